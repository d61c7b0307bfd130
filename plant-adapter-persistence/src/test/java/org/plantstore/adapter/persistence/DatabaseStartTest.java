package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.persistence.DatabaseServer.SERVER;

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

/** Which databases a start accepts, with which advice it refuses others, and what it waits for. */
class DatabaseStartTest {

  private static final Map<String, Object> UNMIGRATED = Map.of("database.migrate", "off");
  private static final String ELSEWHERE =
      "; choose another schema by currentSchema in DATABASE_URL, or another database";

  private static final String WORDS = "id bigint UNIQUE, name text, tag text";

  @BeforeEach
  void reset() {
    SERVER.reset();
  }

  @Test
  void table_that_another_has_made_is_used_without_a_history_and_left_as_it_is() throws Exception {
    SERVER.execute("CREATE TABLE plant (since date, tag text, name text, id bigint UNIQUE)");

    SERVER.assertServes(UNMIGRATED);

    assertEquals("null", SERVER.single("SELECT to_regclass('flyway_schema_history')"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          TABLE plant (id int PRIMARY KEY, name text, tag text) | plant must have the columns id bigint, name text, tag text, but has id integer, name text, tag text; choose
          TABLE plant (serial text, id bigint UNIQUE) | plant must have the columns id bigint, name text, tag text, but has id bigint; choose
          TABLE plant (id bigint UNIQUE DEFERRABLE, name text, tag text) | the table plant must have a unique index on id alone; run CREATE UNIQUE INDEX ON plant (id)
          TABLE plant (id bigint, name text, tag text); CREATE UNIQUE INDEX ON plant (id, tag) | the table plant must have a unique index on id alone; run CREATE UNIQUE INDEX ON plant (id)
          TABLE plant (id bigint GENERATED ALWAYS AS IDENTITY UNIQUE, name text, tag text) | the table plant cannot be used: cannot insert a non-DEFAULT value into column "id" (SQLSTATE 428C9)
          TABLE plant (<words>); CREATE TABLE more () INHERITS (plant) | the table plant has the child more, whose rows appear as plants; run ALTER TABLE more NO INHERIT plant
          TABLE plant (<words>) PARTITION BY HASH (id) | plant is no ordinary table, but a partitioned table; choose
          TABLE whole (<words>) PARTITION BY HASH (id); CREATE TABLE plant PARTITION OF whole FOR VALUES WITH (MODULUS 1, REMAINDER 0) | plant is no ordinary table, but a partition; choose
          VIEW plant AS SELECT 1::bigint AS id | plant is no ordinary table, but a view; choose
          UNLOGGED TABLE plant (<words>) | the table plant is unlogged, and loses plants in a crash; run ALTER TABLE plant SET LOGGED
          TABLE plant (<words>); CREATE RULE skip AS ON INSERT TO plant DO INSTEAD NOTHING | the rule skip may replace the insert of a plant; run DROP RULE skip ON plant
          TABLE plant (<words>); CREATE RULE skip AS ON UPDATE TO plant DO INSTEAD NOTHING | the table plant cannot be used: INSERT with ON CONFLICT clause cannot be used with table that has INSERT or UPDATE rules (SQLSTATE 0A000)
          TABLE plant (<words>); CREATE TRIGGER "No te" BEFORE INSERT ON plant FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger() | the trigger No te may change or drop a plant before it is stored; run DROP TRIGGER "No te" ON plant, or ALTER TABLE plant DISABLE TRIGGER "No te"
          TABLE plant (<words>, x int NOT NULL) | <column x>
          TABLE plant (<words>, y text DEFAULT '', z uuid PRIMARY KEY) | <column z>
          DOMAIN size AS int NOT NULL; CREATE DOMAIN height AS size; CREATE TABLE plant (<words>, x height) | <column x>
          DOMAIN length AS int CHECK (VALUE > 0 AND VALUE IS NOT NULL); CREATE TABLE plant (<words>, x length) | <column x>
          DOMAIN width AS int CHECK (NOT (VALUE IS NULL)); CREATE DOMAIN span AS width; CREATE TABLE plant (<words>, x span) | <column x>
          TABLE plant (<words>, CONSTRAINT "No" CHECK (false)) | the constraint No of the table plant refuses every plant: CHECK (false); run ALTER TABLE plant DROP CONSTRAINT "No"
          TABLE plant (<words>, x int, CONSTRAINT c CHECK (x IS NOT NULL AND x > 0)) | the constraint c of the table plant refuses every plant: CHECK (((x IS NOT NULL) AND (x > 0))); run ALTER TABLE plant DROP CONSTRAINT c
          TABLE plant (<words>); ALTER TABLE plant ADD "No" int, ADD CONSTRAINT c CHECK (NOT ("No" IS NULL)) | the constraint c of the table plant refuses every plant: CHECK ((NOT ("No" IS NULL))); run ALTER TABLE plant DROP CONSTRAINT c
          TABLE plant (<words>); ALTER TABLE plant ADD x int, ADD CONSTRAINT c CHECK (x IS NOT NULL) NOT VALID | the constraint c of the table plant refuses every plant: CHECK ((x IS NOT NULL)) NOT VALID; run ALTER TABLE plant DROP CONSTRAINT c
          TABLE plant (id bigint UNIQUE, name text, tag text GENERATED ALWAYS AS ('x') STORED) | the table plant cannot be used: cannot insert a non-DEFAULT value into column "tag" (SQLSTATE 428C9)
          """)
  void table_that_would_lose_change_or_refuse_every_plant_is_refused_with_the_remedy(
      String definition, String reason) {
    SERVER.execute("CREATE " + definition.replace("<words>", WORDS));
    String column =
        "the column $1 of the table plant refuses every plant, because it must not be null and has"
            + " no default; run ALTER TABLE plant ALTER $1 SET DEFAULT with a value";

    assertEquals(
        List.of(reason.replace("; choose", ELSEWHERE).replaceFirst("<column (.*)>", column)),
        SERVER.check(UNMIGRATED));
  }

  @Test
  void every_fault_is_told_by_each_command_and_the_schema_left_as_it_is() throws Exception {
    SERVER.execute("CREATE UNLOGGED TABLE plant (id bigint, name text, tag text)");
    List<String> faults = SERVER.check(UNMIGRATED);
    assertEquals(2, faults.size());
    assertEquals(String.join("; also ", faults), SERVER.refusal(UNMIGRATED));

    String history = "the table plant has no history of migrations; set DATABASE_MIGRATE to off";
    assertTrue(SERVER.refusal(Map.of()).contains(history));
    assertTrue(SERVER.refusalOfMigration().contains(history));
    assertEquals("null", SERVER.single("SELECT to_regclass('flyway_schema_history')"));
  }

  /** None of this changes or loses a plant silently; an operator may have reasons for it. */
  @Test
  void additions_of_operators_are_accepted() throws Exception {
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
        // As of an audit, and of a repack that runs.
        "CREATE TRIGGER repack_trigger AFTER INSERT OR DELETE OR UPDATE ON plant FOR EACH ROW"
            + " EXECUTE FUNCTION audit()",
        "ALTER TABLE plant ENABLE ALWAYS TRIGGER repack_trigger",
        "CREATE TRIGGER statement BEFORE INSERT ON plant EXECUTE FUNCTION audit()",
        "CREATE TRIGGER disabled BEFORE INSERT ON plant FOR EACH ROW EXECUTE FUNCTION audit()",
        "ALTER TABLE plant DISABLE TRIGGER disabled",
        "ALTER TABLE plant ENABLE ROW LEVEL SECURITY"); // not of its owner

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
    Map<String, Object> account =
        Map.of("database.migrate", "off", "database.username", "gardener");

    if (isAccepted) {
      SERVER.assertServes(account);
    } else {
      assertEquals(
          "row-level security may hide or refuse plants of gardener; run ALTER TABLE plant DISABLE"
              + " ROW LEVEL SECURITY, or ALTER ROLE gardener BYPASSRLS, or CREATE POLICY plants ON"
              + " plant TO gardener USING (true)",
          SERVER.refusal(account));
    }
  }

  /** The statements that make the state, the account, whether the start migrates, the reason. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          CREATE ROLE gardener LOGIN; ALTER ROLE gardener SET search_path = later | gardener | on | CREATE
          CREATE TABLE flyway_schema_history (); CREATE ROLE gardener LOGIN; GRANT CREATE ON SCHEMA public TO gardener | gardener | on | CREATE
          CREATE TABLE plant (id bigint PRIMARY KEY, name text, tag text); CREATE ROLE gardener LOGIN | gardener | off | gardener must be allowed to insert into and to select from the table plant
          CREATE TABLE plant (id bigint PRIMARY KEY, name text, tag text, n serial); CREATE ROLE gardener LOGIN; GRANT INSERT, SELECT ON plant TO gardener | gardener | off | gardener must be allowed to use the sequence plant_n_seq of the column n of the table plant; run GRANT USAGE ON SEQUENCE plant_n_seq TO gardener
          ALTER ROLE postgres SET default_transaction_read_only = on | postgres | on | sessions of postgres are read-only; set default_transaction_read_only to off by ALTER ROLE postgres
          ALTER DATABASE postgres SET default_transaction_read_only = on | postgres | on | sessions of postgres are read-only; set default_transaction_read_only to off by ALTER DATABASE postgres
          ALTER ROLE postgres SET search_path = '' | postgres | on | the search_path of postgres is empty; set currentSchema in DATABASE_URL
          SELECT 'an empty database' | postgres | off | there is no table plant for postgres; run plant-store migrate, and accounts.sql after it
          """)
  void account_without_the_rights_is_refused(
      String state, String username, String migrate, String fault) {
    SERVER.execute(state);
    String mayNotCreate =
        "gardener must be allowed to create the tables, and to change them; if another account"
            + " does that with plant-store migrate, set DATABASE_MIGRATE to off";
    String reason = fault.equals("CREATE") ? mayNotCreate : fault;
    Map<String, Object> settings =
        Map.of("database.username", username, "database.migrate", migrate);

    assertEquals(reason, SERVER.refusal(settings));
    assertEquals(List.of(reason), SERVER.check(settings));
  }

  @Test
  void encoding_that_cannot_keep_every_name_is_refused_and_no_address_is_told() {
    SERVER.execute(
        "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
    assertEquals(
        "the database must have the encoding UTF8 to keep every name, but has LATIN1",
        SERVER.refusal(Map.of("database.url", SERVER.url("latin"))));

    // The driver tells it.
    String secret = "jdbc:postgresql:///postgres?PGHOST=/tmp&sslpassword=canary";
    assertFalse(SERVER.refusal(Map.of("database.url", secret)).contains("canary"));
  }

  /** The migration creates the table in the first schema of the path. */
  @Test
  void other_tables_and_the_table_of_a_schema_later_in_the_path_are_no_hindrance()
      throws Exception {
    SERVER.execute(
        "DROP SCHEMA IF EXISTS garden CASCADE",
        "CREATE SCHEMA garden",
        "CREATE TABLE garden.animal (id bigint)",
        "CREATE TABLE plant (x int)");
    Map<String, Object> settings =
        Map.of("database.url", SERVER.url("postgres") + "?currentSchema=garden,public");

    assertEquals(List.of(), SERVER.check(settings));
    SERVER.assertServes(settings);
    assertEquals("1", SERVER.single("SELECT count(*) FROM garden.plant"));
  }

  /** Databases exist whose history begins so, and may go on with a newer version's migration. */
  @Test
  void history_of_every_version_is_continued() throws Exception {
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

    String another = "the schema has another application's history of migrations" + ELSEWHERE;
    assertEquals(List.of(another), SERVER.check(Map.of()));
    assertEquals(another, SERVER.refusal(Map.of()));
  }

  /** The change of a migrated database, and the reason that each command reports. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          DELETE FROM flyway_schema_history | flyway_schema_history has no row of V1__plant.sql, which created plant; restore
          UPDATE flyway_schema_history SET type = 'BASELINE', version = 0, script = '<< Flyway Baseline >>' | flyway_schema_history has no row of V1__plant.sql, which created plant; restore
          UPDATE flyway_schema_history SET checksum = 5 | flyway_schema_history: Migration checksum mismatch for migration version 1 -> Applied to database : 5 -> Resolved locally : 1015373671; change
          UPDATE flyway_schema_history SET description = 'tree' | flyway_schema_history: Migration description mismatch for migration version 1 -> Applied to database : tree -> Resolved locally : plant; change
          UPDATE flyway_schema_history SET success = false | flyway_schema_history: Detected failed migration to version 1 (plant); change
          DROP TABLE plant | the table plant has been dropped since its migration; restore it, or run DROP TABLE flyway_schema_history to begin without plants
          """)
  void history_that_does_not_fit_is_refused_by_each_command_and_left_as_it_is(
      String change, String fault) throws Exception {
    SERVER.migrate();
    SERVER.execute(change);
    String history = "SELECT string_agg(h::text, ' ') FROM flyway_schema_history AS h";
    String before = SERVER.single(history);
    String off = ", or set DATABASE_MIGRATE to off to use the table as it is";
    String values = " so that success is true and its values are those resolved locally";
    String reason =
        fault
            .replaceFirst("; restore$", "; restore that row" + off)
            .replaceFirst("; change$", "; change that row" + values + off);

    assertEquals(List.of(reason), SERVER.check(Map.of()));
    assertEquals(reason, SERVER.refusal(Map.of()));
    assertEquals(reason, SERVER.refusalOfMigration());
    assertEquals(before, SERVER.single(history));
  }

  @RepeatedTest(2)
  void instances_that_start_at_once_on_an_empty_database_all_start() throws Exception {
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
    SERVER.migrate(); // makes the history that a start reads
    Map<String, Object> settings =
        Map.of("database.timeout.seconds", 1, "database.start.timeout.seconds", 60);
    try (Connection locker = SERVER.connection()) {
      locker.setAutoCommit(false);
      locker.createStatement().execute("LOCK TABLE flyway_schema_history");
      SERVER.execute("ALTER ROLE postgres SET lock_timeout = '100ms'"); // longer in a migration
      var starting = CompletableFuture.runAsync(() -> SERVER.assertServes(settings));
      Calls.await(() -> starting.isDone() || SERVER.isAnyoneLocked());
      locker.createStatement().execute("SELECT pg_sleep(1.5)");
      assertFalse(starting.isDone(), "the migration waits");
      locker.rollback();

      starting.get();
    }
  }

  @Test
  @Tag("slow")
  void start_waits_visibly_for_another_migration() throws Exception {
    try (Connection holder = SERVER.connection()) {
      holder.createStatement().execute("SELECT pg_advisory_lock(hashtext('plant-store migrate'))");
      String process = SERVER.single("SELECT pid FROM pg_locks WHERE locktype = 'advisory'");

      List<String> log =
          Calls.log(
              DatabaseMigration.class.getName(),
              () -> {
                var starting = CompletableFuture.runAsync(SERVER::migrate);
                assertDoesNotThrow(() -> holder.createStatement().execute("SELECT pg_sleep(6)"));
                assertFalse(starting.isDone(), "the start waits");
                SERVER.execute("SELECT pg_terminate_backend(" + process + ")");
                starting.join();
              });

      assertEquals(
          "WARN The start waits, because another instance migrates the tables", log.get(0));
    }
  }
}
