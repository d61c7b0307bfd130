-- One row: the state of the server, of the account, and of the relation plant.
SELECT current_setting('server_encoding') AS encoding,
       pg_is_in_recovery() AS is_standby,
       current_setting('transaction_read_only') = 'on' AS is_read_only,
       -- The current schema is null if it does not exist; the migration creates it.
       CASE
         WHEN history IS NOT NULL THEN has_table_privilege(history::oid, 'SELECT')
         WHEN current_schema() IS NULL THEN has_database_privilege(current_database(), 'CREATE')
         ELSE has_schema_privilege(current_schema(), 'CREATE')
       END AS may_migrate,
       has_table_privilege(plant::oid, 'INSERT')
         AND has_table_privilege(plant::oid, 'SELECT') AS may_use,
       (SELECT concat(
                 CASE relpersistence WHEN 'u' THEN 'unlogged ' WHEN 't' THEN 'temporary ' END,
                 CASE WHEN relkind = 'p' OR relispartition THEN 'partitioned ' END,
                 (pg_identify_object('pg_class'::regclass, plant, 0)).type,
                 ' (', CASE used WHEN 'id bigint, name text, tag text' THEN used ELSE every END, ')',
                 ', ' || hindrances)
        FROM pg_class
        WHERE oid = plant) AS relation,
       plant = to_regclass(quote_ident(current_schema()) || '.plant') AS is_in_schema,
       to_regclass('pg_dist_partition') IS NOT NULL AS has_citus
FROM to_regclass('plant') AS plant,
     to_regclass(quote_ident(current_schema()) || '.flyway_schema_history') AS history,
     -- The columns, and those that the store uses or that must be set.
     LATERAL (
       SELECT string_agg(definition, ', ' ORDER BY attname) AS every,
              string_agg(definition, ', ' ORDER BY attname) FILTER (
                WHERE attname IN ('id', 'name', 'tag') OR definition LIKE '% NOT NULL') AS used,
              max(attnum) FILTER (WHERE attname = 'id') AS id
       FROM pg_attribute,
            LATERAL concat(attname, ' ', format_type(atttypid, atttypmod), CASE
              WHEN attname IN ('id', 'name', 'tag') AND (attgenerated <> '' OR attidentity = 'a')
                THEN ' GENERATED ALWAYS'
              WHEN attnotnull AND attname NOT IN ('id', 'name')
                AND (attname = 'tag' OR NOT atthasdef AND attidentity = '') THEN ' NOT NULL'
            END) AS definition
       WHERE attrelid = plant AND attnum > 0 AND NOT attisdropped) AS columns,
     -- What may change, hide or refuse a plant.
     LATERAL (
       SELECT string_agg(hindrance, ', ' ORDER BY hindrance) AS hindrances
       FROM (
         -- Triggers of constraints are internal. Citus has triggers for TRUNCATE.
         SELECT 'trigger ' || tgname FROM pg_trigger
         WHERE tgrelid = plant AND NOT tgisinternal AND tgenabled IN ('O', 'A') AND tgtype & 4 > 0
         -- ON CONFLICT is refused if there is a rule for UPDATE, even a disabled one.
         UNION SELECT 'rule ' || rulename FROM pg_rewrite
         WHERE ev_class = plant AND (ev_type = '2' OR ev_type = '3' AND ev_enabled IN ('O', 'A'))
         UNION SELECT 'constraint ' || conname FROM pg_constraint
         WHERE conrelid = plant AND contype IN ('c', 'f')
         -- An index that includes id in its key refuses nothing else than the index on id.
         UNION SELECT 'index ' || indexrelid::regclass FROM pg_index
         WHERE indrelid = plant AND (indisunique OR indisexclusion)
           AND id <> ALL ((indkey::int2[])[0:indnkeyatts - 1])
         UNION SELECT 'child ' || inhrelid::regclass FROM pg_inherits WHERE inhparent = plant
         UNION SELECT 'row-level security' WHERE row_security_active(plant::oid)
         UNION SELECT 'no unique index on id' WHERE NOT EXISTS (
           SELECT FROM pg_index
           WHERE indrelid = plant AND indkey::text = id::text
             AND indisunique AND indisvalid AND indimmediate AND indpred IS NULL)
       ) AS found (hindrance)) AS hindrances
