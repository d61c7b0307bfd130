package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.slf4j.LoggerFactory;

/** Which tables a start accepts that has not made them, and the command that makes them. */
class TableStartTest {

  private static final NewPlant FERN = new NewPlant(1, "fern", "shade");
  private static final Map<String, Object> UNMIGRATED = Map.of("database.migrate", "off");

  private static final String PACKAGE = TableStartTest.class.getPackageName() + ".requirement";

  private static final DatabaseServer SERVER = DatabaseServer.shared();

  @BeforeEach
  void reset() {
    SERVER.reset();
  }

  @AfterEach
  void dropMetadata() {
    DistributedTable.drop(SERVER);
  }

  @Test
  void table_that_is_as_it_must_be_is_used_without_a_history_and_left_as_it_is() throws Exception {
    SERVER.execute("CREATE TABLE plant (since date, tag text, name text, id bigint UNIQUE)");

    try (ApplicationContext instance = SERVER.connect(UNMIGRATED)) {
      assertEquals(FERN, instance.getBean(PlantStore.class).putIfAbsent(FERN));
    }

    assertEquals("null", SERVER.single("SELECT to_regclass('flyway_schema_history')"));
  }

  @Test
  void migration_of_a_table_without_a_history_says_how_to_use_it() {
    SERVER.execute("CREATE TABLE plant (id bigint PRIMARY KEY, name text NOT NULL, tag text)");

    assertEquals(
        "the tables of the database cannot be brought up to date: relation \"plant\" already exists"
            + " (SQLSTATE 42P07); start with DATABASE_MIGRATE=off to use it",
        refusal(Map.of()));
  }

  @Test
  void missing_table_is_refused() {
    assertEquals(
        "there is no table plant for postgres; run plant-store migrate, and accounts.sql after it",
        refusal(UNMIGRATED));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          id int PRIMARY KEY, name text NOT NULL, tag text | id integer, name text, tag text
          id bigint PRIMARY KEY, name text NOT NULL        | id bigint, name text
          id bigint NOT NULL, name text NOT NULL, tag text | id bigint, name text, tag text, and no such index
          id bigint UNIQUE DEFERRABLE, name text, tag text | id bigint, name text, tag text, and no such index
          id bigint PRIMARY KEY, name text, tag text, owner text NOT NULL | id bigint, name text, owner text, tag text
          """)
  void table_that_is_another_is_refused(String columns, String told) {
    SERVER.execute("CREATE TABLE plant (" + columns + ")");

    assertEquals(
        "the table plant must have the columns id bigint, name text, tag text, and a unique index on"
            + " id, but has "
            + told,
        refusal(UNMIGRATED));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "UPDATE pg_dist_partition SET partmethod = 'n'",
        "UPDATE pg_dist_partition SET partkey = 'name'",
        "INSERT INTO pg_dist_placement VALUES (101, 2)"
      })
  void distribution_that_cannot_be_exact_is_refused(String distribution) {
    distribute(distribution);

    assertEquals(
        "the table plant must be distributed by the hash of id, each shard at one node, or not be"
            + " managed by Citus; stop the instances at workers, and run SELECT undistribute_table('plant') and"
            + " SELECT create_distributed_table('plant', 'id')",
        refusal(UNMIGRATED));
  }

  @Test
  void worker_that_commits_without_waiting_for_its_disk_is_refused() {
    distribute("UPDATE settings_of_workers SET result = 'off on 1000'");

    assertEquals(
        "east:1 has synchronous_commit = off, and would lose plants in a crash; run"
            + " ALTER ROLE \"postgres\" SET synchronous_commit = on",
        refusal(UNMIGRATED));
  }

  @Test
  void worker_that_is_weak_is_warned_of() {
    distribute("UPDATE settings_of_workers SET result = 'on off 0'");

    assertEquals(
        List.of(
            "WARN A worker of Citus loses plants in a crash: east:1 has fsync = off; run there"
                + " ALTER SYSTEM SET fsync = on, and SELECT pg_reload_conf()",
            "WARN A worker of Citus lets a locked id hold up others: east:1 has lock_timeout = 0;"
                + " run ALTER ROLE \"postgres\" SET lock_timeout = '1s'"),
        linesOfStart());
  }

  /** The session of the store has settings of its own there. */
  @Test
  void node_of_the_instance_is_not_asked() {
    distribute(
        "UPDATE settings_of_workers SET result = 'off off 0'; UPDATE pg_dist_local_group SET groupid = 1");

    assertEquals(List.of(), linesOfStart());
  }

  @Test
  void worker_that_is_down_is_named() {
    distribute("UPDATE settings_of_workers SET success = false, result = 'connection refused'");

    assertEquals(
        List.of(
            "INFO A worker of Citus cannot be asked for its settings: east:1 answers connection"
                + " refused"),
        linesOfStart());
  }

  @Test
  void account_that_may_not_ask_the_workers_starts() {
    distribute(
        """
        CREATE OR REPLACE FUNCTION run_command_on_all_nodes(text)
          RETURNS SETOF settings_of_workers LANGUAGE plpgsql AS
          $$BEGIN RAISE insufficient_privilege; END$$
        """);

    assertEquals(
        List.of(
            "INFO The workers of Citus cannot be asked for their settings:"
                + " insufficient_privilege (SQLSTATE 42501)"),
        linesOfStart());
  }

  private static void distribute(String change) {
    SERVER.connect().close(); // makes the table
    new DistributedTable(SERVER);
    SERVER.execute(change);
  }

  private static List<String> linesOfStart() {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger logger = (Logger) LoggerFactory.getLogger(PACKAGE);
    Level level = logger.getLevel();
    logger.setLevel(Level.INFO);
    logger.addAppender(log);
    try {
      SERVER.connect(UNMIGRATED).close();
    } finally {
      logger.detachAppender(log);
      logger.setLevel(level);
    }
    return log.list.stream()
        .map(line -> line.getLevel() + " " + line.getFormattedMessage())
        .toList();
  }

  @ParameterizedTest
  @CsvSource({
    "database.migrate, yes, 'DATABASE_MIGRATE must be on or off, but is yes'",
    "database.connections, 1,"
        + " 'DATABASE_CONNECTIONS must be a whole number from 5 to 10000, but is 1'"
  })
  void setting_that_cannot_work_is_refused(String property, String value, String reason) {
    assertEquals(reason, refusal(Map.of(property, value)));
  }

  @Test
  void command_makes_the_table_and_may_be_repeated() {
    assertEquals("0 The tables are up to date.\n", runMigrate());
    assertEquals("0 The tables are up to date.\n", runMigrate());

    SERVER.connect(UNMIGRATED).close();
  }

  @Test
  void command_that_fails_says_why() {
    SERVER.execute("CREATE TABLE plant (id int)");

    assertEquals(
        "1 plant-store migrate: the tables of the database cannot be brought up to date:"
            + " relation \"plant\" already exists (SQLSTATE 42P07);"
            + " start with DATABASE_MIGRATE=off to use it\n",
        runMigrate());
  }

  /** Runs the command as a service does; returns its exit code and what it wrote. */
  private static String runMigrate() {
    StringWriter written = new StringWriter();
    PrintWriter writer = new PrintWriter(written, true);
    String[] arguments =
        SERVER.settings().entrySet().stream()
            .map(setting -> "--" + setting.getKey() + "=" + setting.getValue())
            .toArray(String[]::new);
    int code = ToolProvider.findFirst("migrate").orElseThrow().run(writer, writer, arguments);
    return code + " " + written;
  }

  private static String refusal(Map<String, Object> settings) {
    return String.valueOf(
        assertThrows(ConfigurationException.class, () -> SERVER.connect(settings).close())
            .getMessage());
  }
}
