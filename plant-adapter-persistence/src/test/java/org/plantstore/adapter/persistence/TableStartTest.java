package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.plantstore.adapter.persistence.DatabaseServer.SERVER;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which tables a start accepts that has not made them, and the commands for them. */
@Tag("newest")
class TableStartTest implements WithEmptyDatabase {

  private static final Map<String, Object> UNMIGRATED = Map.of("database.migrate", "off");

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

    assertEquals(List.of(reasonFor(told)), SERVER.check(false, account));
  }

  @Test
  void relation_that_is_another_is_told_by_each_command_and_left_as_it_is() throws Exception {
    SERVER.execute("CREATE VIEW plant AS SELECT 1 AS id");
    String reason = reasonFor("view (id integer), no unique index on id");

    assertEquals(reason, SERVER.refusal(Map.of()));
    assertEquals(reason, SERVER.refusal(UNMIGRATED));
    assertEquals(reason, SERVER.refusalOfMigration());
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

    assertEquals(isForeign ? List.of(reason) : List.of(), SERVER.check(false, Map.of()));
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

    assertEquals(List.of(), SERVER.check(false, Map.of()));
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

    assertEquals(List.of(), SERVER.check(false, settings));
    SERVER.assertServes(settings);
    assertEquals("1", SERVER.single("SELECT count(*) FROM garden.plant"));
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

    Map<String, Object> settings =
        Map.of("database.username", "gardener", "database.url", url + "?sslpassword=canary");

    assertEquals(
        List.of(
            url + " answers",
            "PostgreSQL N",
            "encoding UTF8",
            "a primary",
            "the table plant is not there yet; the start creates it"),
        SERVER.check(true, settings).stream()
            .map(line -> line.replaceFirst("PostgreSQL \\d+", "PostgreSQL N"))
            .toList());
    assertEquals(
        List.of(
            "the database must be writable for gardener, but is read-only",
            "gardener must be allowed to create the tables, and to change them; if another account"
                + " does that with plant-store migrate, set DATABASE_MIGRATE to off"),
        SERVER.check(false, settings));
  }
}
