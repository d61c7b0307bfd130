-- Creates the two accounts of a service in the database of its plants: plants_owner, which migrates,
-- and plants, which serves and can only insert and select. Run it with psql before the first
-- "plant-store migrate", and again after it; it may be repeated. Run it as a superuser, or as the
-- owner of the database with the right CREATEROLE; in version 16 or later always as the same one.
-- Set the passwords with \password of psql, which sends no plain text.

\set ON_ERROR_STOP on

DO $$
BEGIN
  IF to_regrole('plants_owner') IS NULL THEN
    CREATE ROLE plants_owner LOGIN;
  END IF;
  IF to_regrole('plants') IS NULL THEN
    CREATE ROLE plants LOGIN;
  END IF;

  -- Only the owner of a table, or a member of the owner, can grant rights on it.
  IF NOT pg_has_role('plants_owner', 'USAGE') THEN
    GRANT plants_owner TO CURRENT_USER;
  END IF;

  -- By default every account may create temporary tables, and before version 15 other tables too.
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  REVOKE CREATE ON SCHEMA public FROM PUBLIC;
  GRANT CREATE, USAGE ON SCHEMA public TO plants_owner;
  GRANT USAGE ON SCHEMA public TO plants;

  -- Before version 15 a superuser owns the schema public. For others the three statements above
  -- then have no effect: PostgreSQL warns, and every account keeps the right to create tables there.
  IF has_schema_privilege('plants', 'public', 'CREATE')
      OR has_database_privilege('plants', current_database(), 'TEMPORARY') THEN
    RAISE WARNING 'plants can still create tables; to prevent it, run this file as a superuser,'
      ' or as the owner of the database and of the schema public';
  END IF;

  IF to_regclass('public.plant') IS NOT NULL THEN
    GRANT INSERT, SELECT ON public.plant TO plants;
  END IF;
END
$$;
