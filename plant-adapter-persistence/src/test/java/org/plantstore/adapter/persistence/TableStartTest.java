package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.plantstore.adapter.persistence.DatabaseServer.SERVER;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.micronaut.context.exceptions.ConfigurationException;
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
import org.plantstore.adapter.persistence.PostgresServer.Report;
import org.plantstore.adapter.persistence.requirement.Requirements;
import org.slf4j.LoggerFactory;

/** Which tables a start accepts that has not made them, and the commands for them. */
@Tag("newest")
class TableStartTest {

  private static final Map<String, Object> UNMIGRATED = Map.of("database.migrate", "off");

  @BeforeEach
  void reset() {
    SERVER.reset();
  }

  @Test
  void table_that_is_as_it_must_be_is_used_without_a_history_and_left_as_it_is() throws Exception {
    SERVER.execute("CREATE TABLE plant (since date, tag text, name text, id bigint UNIQUE)");

    SERVER.assertServes(UNMIGRATED);

    assertEquals("null", SERVER.single("SELECT to_regclass('flyway_schema_history')"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          TABLE plant (id int PRIMARY KEY, name text NOT NULL, tag text) | table (id integer, name text, tag text)
          TABLE plant (serial text, line int DEFAULT 1)         | table (line integer, serial text), no unique index on id
          TABLE plant (id bigint NOT NULL, name text, tag text) | table (id bigint, name text, tag text), no unique index on id
          TABLE plant (id bigint UNIQUE DEFERRABLE, name text, tag text) | table (id bigint, name text, tag text), no unique index on id
          TABLE plant (id bigint PRIMARY KEY, name text, tag text NOT NULL DEFAULT '') | table (id bigint, name text, tag text NOT NULL)
          TABLE plant (id bigint PRIMARY KEY, name text, tag text, owner text NOT NULL) | table (id bigint, name text, owner text NOT NULL, tag text)
          TABLE plant (id bigint GENERATED ALWAYS AS IDENTITY UNIQUE, name text, tag text) | table (id bigint GENERATED ALWAYS, name text, tag text)
          TABLE plant (id bigint UNIQUE, name text UNIQUE, tag text CHECK (tag <> '')) | table (id bigint, name text, tag text), constraint plant_tag_check, index plant_name_key
          TABLE plant (id bigint UNIQUE, name text, tag text); CREATE UNIQUE INDEX lower ON plant (lower(tag)) | table (id bigint, name text, tag text), index lower
          TABLE plant (id bigint UNIQUE, name text, tag text REFERENCES other); CREATE TABLE more () INHERITS (plant) | table (id bigint, name text, tag text), child more, constraint plant_tag_fkey
          TABLE plant (id bigint UNIQUE, name text, tag text) PARTITION BY HASH (id) | partitioned table (id bigint, name text, tag text)
          UNLOGGED TABLE plant (id bigint UNIQUE, name text, tag text) | unlogged table (id bigint, name text, tag text)
          INDEX plant ON other (tag)              | index (tag text), no unique index on id
          TABLE plant (id bigint UNIQUE, name text, tag text); CREATE RULE skip AS ON INSERT TO plant DO INSTEAD NOTHING | table (id bigint, name text, tag text), rule skip
          TABLE plant (id bigint UNIQUE, name text, tag text); CREATE TRIGGER note BEFORE INSERT ON plant EXECUTE FUNCTION suppress_redundant_updates_trigger() | table (id bigint, name text, tag text), trigger note
          TABLE plant (id bigint UNIQUE, name text, tag text); ALTER TABLE plant ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY; ALTER TABLE plant OWNER TO gardener | table (id bigint, name text, tag text), row-level security
          """)
  void relation_that_is_another_is_told(String definition, String told) {
    SERVER.execute(
        "CREATE ROLE gardener LOGIN",
        "GRANT CREATE ON SCHEMA public TO gardener",
        "CREATE TABLE other (tag text PRIMARY KEY)",
        "CREATE " + definition);
    Map<String, Object> account =
        Map.of("database.username", told.endsWith("security") ? "gardener" : "postgres");

    assertEquals("database\t" + reasonFor(told) + "\n", SERVER.run("check", account).err());
  }

  @Test
  void relation_that_is_another_is_told_by_each_command_and_left_as_it_is() throws Exception {
    SERVER.execute("CREATE VIEW plant AS SELECT 1 AS id");
    String reason = reasonFor("view (id integer), no unique index on id");

    assertEquals(reason, SERVER.refusal(Map.of()));
    assertEquals(reason, SERVER.refusal(UNMIGRATED));
    assertEquals(
        reason,
        assertThrows(ConfigurationException.class, () -> SERVER.run("migrate", Map.of()))
            .getMessage());
    assertEquals("null", SERVER.single("SELECT to_regclass('flyway_schema_history')"));
  }

  private static String reasonFor(String told) {
    return "plant must be a table (id bigint, name text, tag text), unique by id, where nothing"
        + " changes, hides or refuses plants, but is: "
        + told
        + "; choose another schema by currentSchema in DATABASE_URL, or another database";
  }

  /** Nothing of this changes, hides or refuses a plant. */
  @Test
  void additions_that_leave_plants_as_they_are_are_accepted() {
    SERVER.migrate();
    SERVER.execute(
        "ALTER TABLE plant ADD since date NOT NULL DEFAULT now(), ADD length int"
            + " GENERATED ALWAYS AS (length(name)) STORED, ALTER id ADD GENERATED BY DEFAULT AS IDENTITY",
        "CREATE UNIQUE INDEX ON plant (tag, id)",
        "CREATE TABLE place (plant bigint REFERENCES plant)",
        "CREATE TRIGGER no_truncate BEFORE TRUNCATE ON plant"
            + " EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        "CREATE TRIGGER disabled BEFORE INSERT ON plant"
            + " EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        "ALTER TABLE plant DISABLE TRIGGER disabled",
        "ALTER TABLE plant ENABLE ROW LEVEL SECURITY");

    SERVER.assertServes(Map.of());
  }

  /** The columns and the rows of a history, as Flyway makes them for others, or anybody else. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          NULL, 'views', 'SQL', 'R__views.sql'                               | true
          3, '<< Flyway Baseline >>', 'BASELINE', '<< Flyway Baseline >>'    | true
          0, '<< Flyway Baseline >>', 'BASELINE', '<< Flyway Baseline >>'    | false
          """)
  void history_of_another_application_is_told_by_check_and_start_and_left_as_it_is(
      String entry, boolean isForeign) throws Exception {
    SERVER.migrate();
    SERVER.execute(
        "DROP TABLE plant",
        "DELETE FROM flyway_schema_history",
        "INSERT INTO flyway_schema_history (version, description, type, script, installed_rank,"
            + " installed_by, execution_time, success) VALUES ("
            + entry
            + ", 1, 'other', 1, true)");
    String reason =
        "the schema has another application's history of migrations; choose another schema by"
            + " currentSchema in DATABASE_URL, or another database";

    assertEquals(
        isForeign ? "database\t" + reason + "\n" : "", SERVER.run("check", Map.of()).err());
    if (isForeign) {
      assertEquals(reason, SERVER.refusal(Map.of()));
      assertEquals("1", SERVER.single("SELECT count(*) FROM flyway_schema_history"));
    } else {
      SERVER.migrate();
    }
  }

  /** After a newer version of this service, which has added a migration. */
  @Test
  void history_of_a_newer_version_is_accepted() {
    SERVER.migrate();
    SERVER.execute(
        "INSERT INTO flyway_schema_history SELECT 9, '9', 'later', 'SQL', 'V9__later.sql', 1,"
            + " installed_by, installed_on, 1, true FROM flyway_schema_history");

    assertEquals("", SERVER.run("check", Map.of()).err());
    SERVER.migrate();
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

    assertEquals("", SERVER.run("check", settings).err());
    SERVER.assertServes(settings);
    assertEquals("1", SERVER.single("SELECT count(*) FROM garden.plant"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          UPDATE pg_dist_partition SET partmethod = 'n'         | the table plant must be distributed by the hash of id, each shard at one node, or not be managed by Citus; stop the instances at workers, and run SELECT undistribute_table('plant') and SELECT create_distributed_table('plant', 'id')
          UPDATE pg_dist_partition SET partkey = 'name'         | the table plant must be distributed by the hash of id, each shard at one node, or not be managed by Citus; stop the instances at workers, and run SELECT undistribute_table('plant') and SELECT create_distributed_table('plant', 'id')
          INSERT INTO pg_dist_placement VALUES (101, 2)         | the table plant must be distributed by the hash of id, each shard at one node, or not be managed by Citus; stop the instances at workers, and run SELECT undistribute_table('plant') and SELECT create_distributed_table('plant', 'id')
          UPDATE settings_of_workers SET result = 'off on 1000' | east:1 has synchronous_commit = off, and would lose plants in a crash; run ALTER ROLE "postgres" SET synchronous_commit = on
          """)
  void distribution_that_cannot_be_exact_or_may_lose_plants_is_refused(
      String change, String reason) {
    distribute(change);

    assertEquals(reason, SERVER.refusal(UNMIGRATED));
  }

  /** A change of the metadata, and the log; a session has settings of its own at its node. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          UPDATE settings_of_workers SET result = 'on off 0' |\
            WARN A worker of Citus loses plants in a crash: east:1 has fsync = off; run there \
          ALTER SYSTEM SET fsync = on, and SELECT pg_reload_conf(). \
          WARN A worker of Citus lets a locked id hold up others: east:1 has lock_timeout = 0; run \
          ALTER ROLE "postgres" SET lock_timeout = '1s'
          UPDATE settings_of_workers SET result = 'off off 0';\
           UPDATE pg_dist_local_group SET groupid = 1 | ''
          UPDATE settings_of_workers SET success = false, result = 'connection refused' |\
            INFO A worker of Citus cannot be asked for its settings: east:1 answers connection refused
          CREATE OR REPLACE FUNCTION run_command_on_all_nodes(text) RETURNS SETOF settings_of_workers\
           LANGUAGE plpgsql AS $$BEGIN RAISE insufficient_privilege; END$$ |\
            INFO The workers of Citus cannot be asked for their settings: insufficient_privilege \
          (SQLSTATE 42501)
          """)
  void worker_that_is_weak_or_cannot_be_asked_is_logged(String change, String lines) {
    distribute(change);

    assertEquals(
        lines,
        String.join(
            ". ",
            log(Requirements.class.getPackageName(), () -> SERVER.connect(UNMIGRATED).close())));
  }

  /** Returns the lines that an action logs, from level INFO. */
  static List<String> log(String name, Runnable action) {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger logger = (Logger) LoggerFactory.getLogger(name);
    logger.setLevel(Level.INFO);
    logger.addAppender(log);
    try {
      action.run();
    } finally {
      logger.detachAppender(log);
      logger.setLevel(null);
    }
    return log.list.stream()
        .map(line -> line.getLevel() + " " + line.getFormattedMessage())
        .toList();
  }

  private static void distribute(String change) {
    SERVER.migrate();
    DistributedTable.make();
    SERVER.execute(change);
  }

  @RepeatedTest(2)
  void instances_that_start_at_once_on_an_empty_database_all_start() throws Exception {
    Executor threads = start -> new Thread(start).start();
    CompletableFuture<?>[] starts =
        Stream.generate(() -> CompletableFuture.runAsync(SERVER::migrate, threads))
            .limit(4)
            .toArray(CompletableFuture<?>[]::new);
    CompletableFuture.allOf(starts).get();
  }

  @Test
  void check_tells_all_findings_and_all_faults_at_once_without_the_parameters_of_the_address() {
    SERVER.execute(
        "CREATE ROLE gardener LOGIN", "ALTER ROLE gardener SET default_transaction_read_only = on");
    String url = SERVER.url("postgres");

    Report report =
        SERVER.run(
            "check",
            Map.of("database.username", "gardener", "database.url", url + "?sslpassword=canary"));

    assertEquals(
        """
        database\t%s answers
        database\tPostgreSQL N
        database\tencoding UTF8
        database\ta primary
        database\tthe table plant is not there yet; the start creates it
        """
            .formatted(url),
        report.out().replaceAll("PostgreSQL \\d+", "PostgreSQL N"));
    assertEquals(
        """
        database\tthe database must be writable for gardener, but is read-only
        database\tgardener must be allowed to create the tables, and to change them; if another \
        account does that with plant-store migrate, set DATABASE_MIGRATE to off
        """,
        report.err());
    assertEquals(1, report.code());
  }
}
