package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.plantstore.adapter.persistence.DatabaseServer.SERVER;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.micronaut.context.ApplicationContext;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.persistence.PostgresServer.Report;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.slf4j.LoggerFactory;

/** Which tables a start accepts that has not made them, and the command that makes them. */
class TableStartTest {

  private static final NewPlant FERN = new NewPlant(1, "fern", "shade");
  private static final Map<String, Object> UNMIGRATED = Map.of("database.migrate", "off");

  private static final String PACKAGE = TableStartTest.class.getPackageName() + ".requirement";

  @BeforeEach
  void reset() {
    SERVER.reset();
  }

  @Test
  void table_that_is_as_it_must_be_is_used_without_a_history_and_left_as_it_is() throws Exception {
    SERVER.execute("CREATE TABLE plant (since date, tag text, name text, id bigint UNIQUE)");

    try (ApplicationContext instance = SERVER.connect(UNMIGRATED)) {
      assertEquals(FERN, instance.getBean(PlantStore.class).putIfAbsent(FERN));
    }

    assertEquals("null", SERVER.single("SELECT to_regclass('flyway_schema_history')"));
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
        SERVER.refusal(UNMIGRATED));
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
        SERVER.refusal(UNMIGRATED));
  }

  @Test
  void worker_that_commits_without_waiting_for_its_disk_is_refused() {
    distribute("UPDATE settings_of_workers SET result = 'off on 1000'");

    assertEquals(
        "east:1 has synchronous_commit = off, and would lose plants in a crash; run"
            + " ALTER ROLE \"postgres\" SET synchronous_commit = on",
        SERVER.refusal(UNMIGRATED));
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

    assertEquals(lines, String.join(". ", log(PACKAGE, () -> SERVER.connect(UNMIGRATED).close())));
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

  @Test
  void command_makes_the_table_and_may_be_repeated() {
    Report upToDate = new Report(0, "The tables are up to date.\n", "");
    assertEquals(upToDate, SERVER.run("migrate", Map.of()));
    assertEquals(upToDate, SERVER.run("migrate", Map.of()));

    SERVER.connect(UNMIGRATED).close();
  }

  @RepeatedTest(5)
  void instances_that_start_at_once_on_an_empty_database_all_start() throws Exception {
    Executor threads = start -> new Thread(start).start();
    CompletableFuture<?>[] starts =
        Stream.generate(() -> CompletableFuture.runAsync(SERVER::migrate, threads))
            .limit(4)
            .toArray(CompletableFuture<?>[]::new);
    CompletableFuture.allOf(starts).get();
  }
}
