package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.persistence.SharedServer.SERVER;

import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Startup accepts a database, waits for it, or refuses it with a message that names the remedy. */
class DatabaseStartTest {

  private static final Map<String, Object> UNMIGRATED = Map.of("database.migrate", "off");
  private static final String ELSEWHERE =
      "; choose another schema with currentSchema in DATABASE_URL, or another database";

  private static final String COLUMNS = "id bigint UNIQUE, name text, tag text";

  @BeforeEach
  void reset() {
    SERVER.reset();
  }

  @Test
  void existing_table_without_a_history_is_used_and_left_unchanged() throws Exception {
    SERVER.execute("CREATE TABLE plant (since date, tag text, name text, id bigint UNIQUE)");

    SERVER.assertServes(UNMIGRATED);

    assertEquals("null", SERVER.single("SELECT to_regclass('flyway_schema_history')"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          TABLE plant (id int PRIMARY KEY, name text, tag text) | the table plant must have the columns id bigint, name text, and tag text, but has id integer, name text, tag text; choose
          TABLE plant (serial text, id bigint UNIQUE) | the table plant must have the columns id bigint, name text, and tag text, but has id bigint; choose
          TABLE plant (id bigint UNIQUE DEFERRABLE, name text, tag text) | the table plant must have a unique index on id only; run CREATE UNIQUE INDEX ON plant (id)
          TABLE plant (id bigint, name text, tag text); CREATE UNIQUE INDEX ON plant (id, tag) | the table plant must have a unique index on id only; run CREATE UNIQUE INDEX ON plant (id)
          TABLE plant (id bigint GENERATED ALWAYS AS IDENTITY UNIQUE, name text, tag text) | the table plant cannot be used: cannot insert a non-DEFAULT value into column "id" (SQLSTATE 428C9)
          TABLE plant (<words>); CREATE TABLE more () INHERITS (plant) | the table more inherits from plant, so its rows appear as plants; run ALTER TABLE more NO INHERIT plant
          TABLE plant (<words>) PARTITION BY HASH (id) | plant must be an ordinary table, but is a partitioned table; choose
          TABLE whole (<words>) PARTITION BY HASH (id); CREATE TABLE plant PARTITION OF whole FOR VALUES WITH (MODULUS 1, REMAINDER 0) | plant must be an ordinary table, but is a partition; choose
          VIEW plant AS SELECT 1::bigint AS id | plant must be an ordinary table, but is a view; choose
          UNLOGGED TABLE plant (<words>) | the table plant is unlogged and would lose plants in a crash; run ALTER TABLE plant SET LOGGED
          TABLE plant (<words>); CREATE RULE skip AS ON INSERT TO plant DO INSTEAD NOTHING | the rule skip may replace inserts into the table plant; run DROP RULE skip ON plant
          TABLE plant (<words>); CREATE RULE skip AS ON UPDATE TO plant DO INSTEAD NOTHING | the table plant cannot be used: INSERT with ON CONFLICT clause cannot be used with table that has INSERT or UPDATE rules (SQLSTATE 0A000)
          TABLE plant (<words>); CREATE TRIGGER "No te" BEFORE INSERT ON plant FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger() | the trigger No te may change or discard a plant before it is stored; run DROP TRIGGER "No te" ON plant, or ALTER TABLE plant DISABLE TRIGGER "No te"
          TABLE plant (<words>, x int NOT NULL) | <column x>
          TABLE plant (<words>, y text DEFAULT '', z uuid PRIMARY KEY) | <column z>
          DOMAIN size AS int NOT NULL; CREATE DOMAIN height AS size; CREATE TABLE plant (<words>, x height) | <column x>
          DOMAIN length AS int CHECK (VALUE > 0 AND VALUE IS NOT NULL); CREATE TABLE plant (<words>, x length) | <column x>
          DOMAIN width AS int CHECK (NOT (VALUE IS NULL)); CREATE DOMAIN span AS width; CREATE TABLE plant (<words>, x span) | <column x>
          TABLE plant (<words>, CONSTRAINT "No" CHECK (false)) | the constraint No of the table plant rejects every plant: CHECK (false); run ALTER TABLE plant DROP CONSTRAINT "No"
          TABLE plant (<words>, x int, CONSTRAINT c CHECK (x IS NOT NULL AND x > 0)) | the constraint c of the table plant rejects every plant: CHECK (((x IS NOT NULL) AND (x > 0))); run ALTER TABLE plant DROP CONSTRAINT c
          TABLE plant (<words>); ALTER TABLE plant ADD "No" int, ADD CONSTRAINT c CHECK (NOT ("No" IS NULL)) | the constraint c of the table plant rejects every plant: CHECK ((NOT ("No" IS NULL))); run ALTER TABLE plant DROP CONSTRAINT c
          TABLE plant (<words>); ALTER TABLE plant ADD x int, ADD CONSTRAINT c CHECK (x IS NOT NULL) NOT VALID | the constraint c of the table plant rejects every plant: CHECK ((x IS NOT NULL)) NOT VALID; run ALTER TABLE plant DROP CONSTRAINT c
          TABLE plant (id bigint UNIQUE, name text, tag text GENERATED ALWAYS AS ('x') STORED) | the table plant cannot be used: cannot insert a non-DEFAULT value into column "tag" (SQLSTATE 428C9)
          """)
  void table_that_would_lose_change_or_refuse_plants_is_refused_with_a_remedy(
      String definition, String reason) {
    SERVER.execute("CREATE " + definition.replace("<words>", COLUMNS));
    String column =
        "the column $1 of the table plant rejects every plant, because it must not be null and has"
            + " no default; run ALTER TABLE plant ALTER $1 SET DEFAULT followed by a value";

    assertEquals(
        List.of(reason.replace("; choose", ELSEWHERE).replaceFirst("<column (.*)>", column)),
        SERVER.check(UNMIGRATED));
  }

  @Test
  void each_command_reports_all_faults_and_leaves_the_schema_unchanged() throws Exception {
    SERVER.execute("CREATE UNLOGGED TABLE plant (id bigint, name text, tag text)");
    List<String> faults = SERVER.check(UNMIGRATED);
    assertEquals(2, faults.size());
    assertEquals(String.join("; also ", faults), SERVER.refusal(UNMIGRATED));

    String history = "the table plant has no migration history; set DATABASE_MIGRATE to off";
    assertTrue(SERVER.refusal(Map.of()).contains(history));
    assertTrue(SERVER.refusalOfMigration().contains(history));
    assertEquals("null", SERVER.single("SELECT to_regclass('flyway_schema_history')"));
  }

  /** None of these additions silently changes or loses a plant. */
  @Test
  void harmless_additions_to_the_table_are_accepted() throws Exception {
    SERVER.migrate();
    SERVER.execute(
        "ALTER TABLE plant ADD since date NOT NULL DEFAULT now(), ADD length int GENERATED ALWAYS"
            + " AS (length(name)) STORED, ALTER id ADD GENERATED BY DEFAULT AS IDENTITY",
        "CREATE DOMAIN size AS int NOT NULL DEFAULT 1",
        "CREATE DOMAIN weight AS int CHECK (VALUE IS NOT NULL) DEFAULT 1",
        "CREATE DOMAIN depth AS int CHECK (VALUE IS NULL OR (VALUE > 0 AND VALUE IS NOT NULL))",
        "ALTER TABLE plant ADD number serial, ADD x int NOT NULL DEFAULT 0, ADD size size",
        "ALTER TABLE plant ADD weight weight, ADD depth depth, ADD y int",
        "ALTER TABLE plant ADD CHECK (x IS NOT NULL), ADD CHECK (id > 0 OR tag IS NOT NULL)",
        "ALTER TABLE plant ADD CHECK (NOT (x IS NULL)), ADD CHECK (id > 0 OR NOT (y IS NULL))",
        "CREATE UNIQUE INDEX ON plant (tag, id)",
        "ALTER TABLE plant ADD CHECK (length(name) < 1000), DROP CONSTRAINT plant_pkey",
        "ALTER TABLE plant ADD UNIQUE (id) INCLUDE (name)",
        "CREATE TABLE place (plant bigint REFERENCES plant (id))",
        "CREATE TABLE audit (id bigint)",
        "CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS"
            + " 'BEGIN INSERT INTO audit VALUES (0); RETURN NULL; END'",
        // Audits use triggers of this form, and pg_repack creates one while it runs.
        "CREATE TRIGGER repack_trigger AFTER INSERT OR DELETE OR UPDATE ON plant FOR EACH ROW"
            + " EXECUTE FUNCTION audit()",
        "ALTER TABLE plant ENABLE ALWAYS TRIGGER repack_trigger",
        "CREATE TRIGGER statement BEFORE INSERT ON plant EXECUTE FUNCTION audit()",
        "CREATE TRIGGER disabled BEFORE INSERT ON plant FOR EACH ROW EXECUTE FUNCTION audit()",
        "ALTER TABLE plant DISABLE TRIGGER disabled",
        "ALTER TABLE plant ENABLE ROW LEVEL SECURITY"); // does not apply to the owner

    assertEquals(List.of(), SERVER.check(Map.of()));
    assertEquals("0", SERVER.single("SELECT count(*) FROM audit"));
    SERVER.assertServes(Map.of());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          SELECT 1 | false
          CREATE POLICY all_of_it ON plant TO gardener USING (true) | true
          CREATE POLICY of_others ON plant TO postgres USING (true) | false
          CREATE POLICY reads ON plant FOR SELECT USING (true) | false
          CREATE POLICY r ON plant FOR SELECT USING (true); CREATE POLICY w ON plant FOR INSERT WITH CHECK (true) | true
          CREATE POLICY a ON plant USING (true); CREATE POLICY b ON plant AS RESTRICTIVE USING (id < 9) | false
          ALTER ROLE gardener BYPASSRLS | true
          """)
  void row_level_security_is_accepted_if_it_hides_and_refuses_nothing(
      String policy, boolean isAccepted) {
    SERVER.migrate();
    SERVER.execute(
        "CREATE ROLE gardener LOGIN",
        "GRANT INSERT, SELECT ON plant TO gardener",
        "ALTER TABLE plant ENABLE ROW LEVEL SECURITY",
        policy);
    Map<String, Object> settings =
        Map.of("database.migrate", "off", "database.username", "gardener");

    if (isAccepted) {
      SERVER.assertServes(settings);
    } else {
      assertEquals(
          "row-level security may reject plants, or hide them from the role gardener; run ALTER TABLE plant"
              + " DISABLE ROW LEVEL SECURITY, or ALTER ROLE gardener BYPASSRLS, or CREATE POLICY"
              + " plants ON plant TO gardener USING (true)",
          SERVER.refusal(settings));
    }
  }

  /** Each row contains SQL statements, the role, DATABASE_MIGRATE, and the reported fault. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          CREATE ROLE gardener LOGIN | gardener | on | the role gardener must be allowed to create tables; run GRANT CREATE ON SCHEMA public TO gardener<or>
          CREATE ROLE gardener LOGIN; ALTER ROLE gardener SET search_path = later | gardener | on | the role gardener must be allowed to create the schema of its search_path (later); run GRANT CREATE ON DATABASE postgres TO gardener<or>
          CREATE SCHEMA garden; CREATE ROLE gardener LOGIN; ALTER ROLE gardener SET search_path = garden | gardener | on | the role gardener must be allowed to use the schema garden; run GRANT CREATE, USAGE ON SCHEMA garden TO gardener<or>
          CREATE TABLE flyway_schema_history (); CREATE ROLE gardener LOGIN; GRANT CREATE ON SCHEMA public TO gardener | gardener | on | the role gardener must be allowed to read the migration history; run GRANT SELECT ON flyway_schema_history TO gardener<or>
          CREATE TABLE plant (id bigint PRIMARY KEY, name text, tag text); CREATE ROLE gardener LOGIN | gardener | off | the role gardener must be allowed to insert into and select from the table plant; run GRANT INSERT, SELECT ON plant TO gardener
          CREATE TABLE plant (id bigint PRIMARY KEY, name text, tag text); CREATE ROLE gardener LOGIN; GRANT INSERT, SELECT (id) ON plant TO gardener | gardener | off | the table plant cannot be used: permission denied for table plant (SQLSTATE 42501); grant the role the missing privilege
          CREATE TABLE plant (id bigint PRIMARY KEY, name text, tag text, n serial); CREATE ROLE gardener LOGIN; GRANT INSERT, SELECT ON plant TO gardener | gardener | off | the role gardener must be allowed to use the sequence plant_n_seq, which provides the default of the column n; run GRANT USAGE ON SEQUENCE plant_n_seq TO gardener
          CREATE ROLE gardener LOGIN; REVOKE CONNECT ON DATABASE postgres FROM PUBLIC | gardener | off | the database cannot be used; grant the role the missing privilege: permission denied for database "postgres" (SQLSTATE 42501)
          ALTER ROLE postgres SET default_transaction_read_only = on | postgres | on | sessions of the role postgres are read-only; run ALTER ROLE postgres SET default_transaction_read_only = off
          ALTER DATABASE postgres SET default_transaction_read_only = on | postgres | on | sessions of the role postgres are read-only; run ALTER DATABASE postgres SET default_transaction_read_only = off
          ALTER ROLE postgres SET search_path = '' | postgres | on | the search_path of the role postgres is empty, so there is no schema for the tables; set currentSchema in DATABASE_URL to a schema, or run ALTER ROLE postgres SET search_path = public
          SELECT 'an empty database' | postgres | off | there is no table plant in the search_path of the role postgres ("$user", public); run plant-store migrate, and then accounts.sql
          CREATE SCHEMA garden; CREATE TABLE garden.plant () | postgres | off | there is no table plant in the search_path of the role postgres ("$user", public), but there is one in the schema garden; to use it, set currentSchema=garden in DATABASE_URL; to create another, run plant-store migrate, and then accounts.sql
          CREATE SCHEMA garden; CREATE TABLE garden.plant (); CREATE ROLE gardener LOGIN; ALTER ROLE gardener SET search_path = garden | gardener | off | there is no table plant in the search_path of the role gardener (garden), but there is one in the schema garden; to use it, run GRANT USAGE ON SCHEMA garden TO gardener; to create another, run plant-store migrate, and then accounts.sql
          """)
  void missing_privilege_or_table_is_reported_with_the_remedy(
      String state, String username, String migrate, String fault) {
    SERVER.execute(state);
    String otherRole =
        ", or set DATABASE_MIGRATE to off and run plant-store migrate as a role that has this"
            + " privilege";
    String reason = fault.replace("<or>", otherRole);
    Map<String, Object> settings =
        Map.of("database.username", username, "database.migrate", migrate);

    assertEquals(reason, SERVER.refusal(settings));
    assertEquals(List.of(reason), SERVER.check(settings));
  }

  /** Hardened servers may revoke functions from PUBLIC. This one is needed to read a plant. */
  @Test
  void missing_privilege_to_write_to_the_wal_is_reported() {
    SERVER.execute(
        "CREATE TABLE plant (" + COLUMNS + ")",
        "CREATE ROLE gardener LOGIN",
        "GRANT INSERT, SELECT ON plant TO gardener");
    String privileges = "UPDATE pg_proc SET proacl = %s WHERE proname = 'pg_logical_emit_message'";
    SERVER.execute(privileges.formatted("'{postgres=X/postgres}'"));
    try {
      assertEquals(
          "the table plant cannot be used: permission denied for function pg_logical_emit_message"
              + " (SQLSTATE 42501); grant the role the missing privilege",
          SERVER.refusal(Map.of("database.username", "gardener", "database.migrate", "off")));
    } finally {
      SERVER.execute(privileges.formatted("NULL"));
    }
  }

  @Test
  void encoding_that_cannot_store_every_name_is_refused_and_no_message_contains_a_password() {
    SERVER.execute(
        "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
    assertEquals(
        "the database encoding must be UTF8, so that every name can be stored, but is"
            + " LATIN1; create a database with createdb -E UTF8 -T template0",
        SERVER.refusal(Map.of("database.url", SERVER.url("latin"))));

    // The driver's own message contains the address.
    String secret = "jdbc:postgresql:///postgres?PGHOST=/tmp&sslpassword=canary";
    assertFalse(SERVER.refusal(Map.of("database.url", secret)).contains("canary"));
  }

  @Test
  void address_without_a_database_name_is_refused_if_no_database_has_the_name_of_the_role() {
    SERVER.execute("CREATE ROLE gardener LOGIN");
    assertEquals(
        "the database cannot be used; name an existing database in DATABASE_URL, as in"
            + " jdbc:postgresql://host:5432/name: database \"gardener\" does not exist (SQLSTATE"
            + " 3D000)",
        SERVER.refusal(Map.of("database.url", SERVER.url(""), "database.username", "gardener")));
  }

  /** The migration creates the table in the first schema of the search_path. */
  @Test
  void other_tables_and_a_table_in_a_later_schema_of_the_search_path_are_ignored()
      throws Exception {
    SERVER.execute(
        "CREATE SCHEMA garden",
        "CREATE TABLE garden.animal (id bigint)",
        "CREATE TABLE plant (x int)");
    Map<String, Object> settings =
        Map.of("database.url", SERVER.url("postgres") + "?currentSchema=garden,public");

    assertEquals(List.of(), SERVER.check(settings));
    SERVER.assertServes(settings);
    assertEquals("1", SERVER.single("SELECT count(*) FROM garden.plant"));
  }

  /** Existing databases contain this history. A newer version may have added a migration. */
  @Test
  void history_of_an_older_or_newer_version_is_continued() throws Exception {
    SERVER.migrate();
    assertEquals(
        "1 plant SQL V1__plant.sql 1015373671",
        SERVER.single(
            "SELECT concat_ws(' ', version, description, type, script, checksum)"
                + " FROM flyway_schema_history"));

    SERVER.execute(
        "INSERT INTO flyway_schema_history SELECT 9, '9', 'later', 'SQL', 'V9__later.sql', 1,"
            + " installed_by, installed_on, 1, true FROM flyway_schema_history");
    assertEquals(List.of(), SERVER.check(Map.of()));
    SERVER.assertServes(Map.of());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "script = 'V1__animal.sql'",
        "version = '3', type = 'BASELINE', script = '<< Flyway Baseline >>'"
      })
  void history_of_another_application_is_refused(String entry) {
    SERVER.migrate();
    SERVER.execute("UPDATE flyway_schema_history SET checksum = 5, " + entry);

    String another =
        "flyway_schema_history contains the migrations of another application" + ELSEWHERE;
    assertEquals(List.of(another), SERVER.check(Map.of()));
    assertEquals(another, SERVER.refusal(Map.of()));
  }

  /** Each row contains a change to a migrated database, and the fault that each command reports. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          DELETE FROM flyway_schema_history | flyway_schema_history contains no row for V1__plant.sql, but the table plant exists; restore that row<off>
          UPDATE flyway_schema_history SET type = 'BASELINE', version = 0, script = '<< Flyway Baseline >>' | flyway_schema_history contains no row for V1__plant.sql, but the table plant exists; restore that row<off>
          UPDATE flyway_schema_history SET checksum = 5 | <row>Migration checksum mismatch for migration version 1 -> Applied to database : 5 -> Resolved locally : 1015373671
          UPDATE flyway_schema_history SET description = 'tree' | <row>Migration description mismatch for migration version 1 -> Applied to database : tree -> Resolved locally : plant
          UPDATE flyway_schema_history SET success = false | <row>Detected failed migration to version 1 (plant)
          DROP TABLE plant | the table plant was dropped after its migration; restore it from a backup, or run DROP TABLE flyway_schema_history to begin with an empty table
          """)
  void each_command_refuses_a_history_that_does_not_match_and_leaves_it_unchanged(
      String change, String fault) throws Exception {
    SERVER.migrate();
    SERVER.execute(change);
    String history = "SELECT string_agg(h::text, ' ') FROM flyway_schema_history AS h";
    String before = SERVER.single(history);
    String reason =
        fault
            .replace(
                "<row>",
                "the migration history does not match this version of the service; correct the row"
                    + " for version 1 in flyway_schema_history<off>: ")
            .replace("<off>", ", or set DATABASE_MIGRATE to off to use the table as it is");

    assertEquals(List.of(reason), SERVER.check(Map.of()));
    assertEquals(reason, SERVER.refusal(Map.of()));
    assertEquals(reason, SERVER.refusalOfMigration());
    assertEquals(before, SERVER.single(history));
  }

  @RepeatedTest(2)
  void instances_that_start_together_on_an_empty_database_all_succeed() throws Exception {
    Executor threads = start -> new Thread(start).start();
    CompletableFuture<?>[] starts =
        Stream.generate(() -> CompletableFuture.runAsync(SERVER::migrate, threads))
            .limit(3)
            .toArray(CompletableFuture<?>[]::new);
    CompletableFuture.allOf(starts).get();
  }

  @Test
  @Tag("slow")
  void migrations_may_take_longer_than_a_create() throws Exception {
    SERVER.migrate(); // creates the history that startup reads
    Map<String, Object> settings =
        Map.of("database.timeout.seconds", 1, "database.start.timeout.seconds", 60);
    try (Connection locker = SERVER.connection()) {
      locker.setAutoCommit(false);
      locker.createStatement().execute("LOCK TABLE flyway_schema_history");
      SERVER.execute("ALTER ROLE postgres SET lock_timeout = '100ms'"); // is overridden
      var starting = CompletableFuture.runAsync(() -> SERVER.connect(settings).close());
      Calls.await(() -> starting.isDone() || SERVER.isAnyoneLocked());
      locker.createStatement().execute("SELECT pg_sleep(1.5)");
      assertFalse(starting.isDone(), "the migration does not wait");
      locker.rollback();

      starting.get();
    }
  }

  @Test
  @Tag("slow")
  void startup_logs_that_it_waits_for_the_migration_of_another_instance() throws Exception {
    try (Connection holder = SERVER.connection()) {
      holder.createStatement().execute("SELECT pg_advisory_lock(hashtext('plant-store migrate'))");
      String process = SERVER.single("SELECT pid FROM pg_locks WHERE locktype = 'advisory'");

      List<String> log =
          Calls.log(
              DatabaseMigration.class.getName(),
              lines -> {
                var starting = CompletableFuture.runAsync(SERVER::migrate);
                Calls.await(() -> starting.isDone() || !lines.isEmpty());
                assertFalse(starting.isDone(), "startup does not wait");
                SERVER.execute("SELECT pg_terminate_backend(" + process + ")");
                starting.join();
              });

      assertEquals(
          "WARN Startup is waiting because another instance is migrating the tables", log.get(0));
    }
  }
}
