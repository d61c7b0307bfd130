SET statement_timeout = '${statement_timeout}';
SET lock_timeout = '${lock_timeout}';
