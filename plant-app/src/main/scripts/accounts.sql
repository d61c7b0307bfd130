-- Creates the two roles of the service in its database. The role plants_owner migrates the tables.
-- The role plants serves requests, and can only insert and select.
--
-- Run this file with psql before the first "plant-store migrate" and again after it. You can repeat
-- it at any time. Run it as a superuser, or as the owner of the database with the CREATEROLE
-- attribute. In version 16 or later, always use the same role.
--
-- Afterwards, set the passwords with psql's \password, which does not send them as plain text.

\set ON_ERROR_STOP on

DO $$
BEGIN
  IF to_regrole('plants_owner') IS NULL THEN
    CREATE ROLE plants_owner LOGIN;
  END IF;
  IF to_regrole('plants') IS NULL THEN
    CREATE ROLE plants LOGIN;
  END IF;

  -- Only the owner of a table, or a member of that role, can grant privileges on it.
  IF NOT pg_has_role('plants_owner', 'USAGE') THEN
    GRANT plants_owner TO CURRENT_USER;
  END IF;

  -- By default, every role can create temporary tables. Before version 15, every role can also create
  -- permanent tables in the schema public.
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  REVOKE CREATE ON SCHEMA public FROM PUBLIC;
  GRANT CREATE, USAGE ON SCHEMA public TO plants_owner;
  GRANT USAGE ON SCHEMA public TO plants;

  -- Before version 15, a superuser owns the schema public. If another role runs the three statements
  -- above, PostgreSQL only warns, and every role can still create tables in that schema.
  IF has_schema_privilege('plants', 'public', 'CREATE')
      OR has_database_privilege('plants', current_database(), 'TEMPORARY') THEN
    RAISE WARNING 'plants can still create tables; to prevent this, run this file as a superuser,'
      ' or as the owner of both the database and the schema public';
  END IF;

  IF to_regclass('public.plant') IS NOT NULL THEN
    GRANT INSERT, SELECT ON public.plant TO plants;
  END IF;
END
$$;
