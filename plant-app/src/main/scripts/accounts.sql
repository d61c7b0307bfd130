-- Makes the two accounts of a service, in the database that is to have its plants:
-- plants_owner, which migrates, and plants, which serves, and can do nothing but insert and select.
-- A superuser runs this before the first "plant-store migrate", and again after it. It changes
-- nothing that is as it should be. Passwords are set by \password of psql, which sends no plain text.

DO $$
BEGIN
  IF to_regrole('plants_owner') IS NULL THEN
    CREATE ROLE plants_owner LOGIN;
  END IF;
  IF to_regrole('plants') IS NULL THEN
    CREATE ROLE plants LOGIN;
  END IF;

  -- PostgreSQL lets everybody make temporary tables, and before version 15 others too.
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  REVOKE CREATE ON SCHEMA public FROM PUBLIC;
  GRANT CREATE, USAGE ON SCHEMA public TO plants_owner;
  GRANT USAGE ON SCHEMA public TO plants;

  IF to_regclass('public.plant') IS NOT NULL THEN
    GRANT INSERT, SELECT ON public.plant TO plants;
  END IF;
END
$$;
