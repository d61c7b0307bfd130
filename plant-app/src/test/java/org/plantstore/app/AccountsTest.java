package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The accounts that {@code accounts.sql} creates on a server that has none. */
@Tag("newest")
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class AccountsTest {

  private static final Path SCRIPT = Path.of("src/main/scripts/accounts.sql");

  /** An administrator without superuser rights, as a managed PostgreSQL has. */
  private static final String ADMINISTRATOR = "administrator";

  @Test
  void service_may_only_insert_and_select() throws Exception {
    Program.requireInstalled("psql");
    try (DatabaseServer server = new DatabaseServer()) {
      Database first = server.database();
      first.execute(
          "CREATE ROLE stranger LOGIN",
          "CREATE ROLE " + ADMINISTRATOR + " LOGIN CREATEROLE CREATEDB");
      first.execute("SET SESSION AUTHORIZATION " + ADMINISTRATOR, "CREATE DATABASE plants");
      Database database = new Database(server.port(), "plants");

      assertEquals(3, runScript("stranger", server).exitCode(), "it must create the accounts");
      runScript(ADMINISTRATOR, server).requireSuccess();
      assertMigrates(database);
      runScript(ADMINISTRATOR, server).requireSuccess();
      runScript(ADMINISTRATOR, server).requireSuccess();

      assertServes(database);
      for (String statement : refused(database)) {
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

  private static Program.Ended runScript(String username, DatabaseServer server)
      throws IOException {
    Map<String, String> environment =
        Map.of("PGHOST", "localhost", "PGPORT", "" + server.port(), "PGUSER", username);
    return Program.run(Path.of("."), environment, "psql", "-X", "-f", SCRIPT.toString(), "plants");
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

  private static List<String> refused(Database database) throws SQLException {
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
    if (Integer.parseInt(database.single("SHOW server_version_num")) >= 150_000) {
      refused.add("CREATE TABLE another (id int)");
    }
    return refused;
  }
}
