package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The accounts that {@code accounts.sql} creates, each time on a server that has none. */
@Tag("newest")
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class AccountsTest {

  private static final Path SCRIPT = Path.of("src/main/scripts/accounts.sql");

  /** An administrator without superuser rights, as a managed PostgreSQL has. */
  private static final String ADMINISTRATOR = "administrator";

  @ParameterizedTest
  @ValueSource(strings = {"postgres", ADMINISTRATOR})
  void service_may_only_insert_and_select(String creator) throws Exception {
    try (DatabaseServer server = new DatabaseServer()) {
      Database database = databaseOf(creator, server);
      String[] accounts = {"SET SESSION AUTHORIZATION " + creator, withoutMetaCommands()};

      database.execute(accounts);
      assertMigrates(database);
      database.execute(accounts);
      database.execute(accounts);

      assertServes(database);
      for (String statement : refused(creator, database)) {
        SQLException refusal =
            assertThrows(
                SQLException.class,
                () -> database.execute("SET SESSION AUTHORIZATION plants", statement),
                statement);
        assertEquals("42501", refusal.getSQLState(), statement);
      }
      assertEquals("fern", database.single("SELECT name FROM plant"));
    }
  }

  @Test
  void psql_ends_with_an_error_if_the_accounts_cannot_be_created() throws Exception {
    Program.requireInstalled("psql");
    try (DatabaseServer server = new DatabaseServer()) {
      databaseOf(ADMINISTRATOR, server).execute("CREATE ROLE stranger LOGIN");

      assertEquals(3, psql("stranger", server).exitCode());
      psql(ADMINISTRATOR, server).requireSuccess();
    }
  }

  private static Program.Ended psql(String username, DatabaseServer server) throws IOException {
    Map<String, String> environment =
        Map.of("PGHOST", "localhost", "PGPORT", "" + server.port(), "PGUSER", username);
    return Program.run(Path.of("."), environment, "psql", "-X", "-f", SCRIPT.toString(), "plants");
  }

  private static Database databaseOf(String creator, DatabaseServer server) throws SQLException {
    Database first = server.database();
    first.execute("CREATE ROLE " + ADMINISTRATOR + " LOGIN CREATEROLE CREATEDB");
    first.execute("SET SESSION AUTHORIZATION " + creator, "CREATE DATABASE plants");
    return new Database(first.port(), "plants");
  }

  /** Returns the script without the commands of psql, which no server knows. */
  private static String withoutMetaCommands() throws IOException {
    return Files.readString(SCRIPT).replaceAll("(?m)^\\\\.*", "");
  }

  private static void assertMigrates(Database database) {
    Map<String, String> owner = database.environment(Map.of("DATABASE_USERNAME", "plants_owner"));
    try (ServiceProcess migration = new ServiceProcess(owner, "migrate")) {
      assertEquals(0, migration.awaitExit(), migration::errors);
    }
  }

  private static void assertServes(Database database) {
    Map<String, String> plants =
        database.environment(Map.of("DATABASE_USERNAME", "plants", "DATABASE_MIGRATE", "off"));
    try (ServiceProcess service = new ServiceProcess(plants).awaitReady()) {
      assertEquals(200, service.create(1, "fern").statusCode());
      assertEquals(200, service.create(1, "fern").statusCode());
    }
  }

  private static List<String> refused(String creator, Database database) throws SQLException {
    List<String> refused =
        new ArrayList<>(
            List.of(
                "UPDATE plant SET name = 'moss'",
                "DELETE FROM plant",
                "TRUNCATE plant",
                "DROP TABLE plant",
                "ALTER TABLE plant ADD age int",
                "CREATE TEMPORARY TABLE another (id int)",
                "CREATE SCHEMA another",
                "SELECT FROM flyway_schema_history"));
    // Before version 15 only a superuser can prevent that an account creates a table in public.
    boolean isSuperuser = !creator.equals(ADMINISTRATOR);
    if (isSuperuser || Integer.parseInt(database.single("SHOW server_version_num")) >= 150_000) {
      refused.add("CREATE TABLE another (id int)");
    }
    return refused;
  }
}
