-- Creates the two accounts of a service in the database of its plants: plants_owner, which migrates,
-- and plants, which serves and can only insert and select. Run it as a superuser before the first
-- "plant-store migrate", and again after it; it may be repeated. Set the passwords with \password of
-- psql, which sends no plain text.

DO $$
BEGIN
  IF to_regrole('plants_owner') IS NULL THEN
    CREATE ROLE plants_owner LOGIN;
  END IF;
  IF to_regrole('plants') IS NULL THEN
    CREATE ROLE plants LOGIN;
  END IF;

  -- By default every account may create temporary tables, and before version 15 other tables too.
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  REVOKE CREATE ON SCHEMA public FROM PUBLIC;
  GRANT CREATE, USAGE ON SCHEMA public TO plants_owner;
  GRANT USAGE ON SCHEMA public TO plants;

  IF to_regclass('public.plant') IS NOT NULL THEN
    GRANT INSERT, SELECT ON public.plant TO plants;
  END IF;
END
$$;
