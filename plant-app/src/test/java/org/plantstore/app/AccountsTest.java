package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The accounts that {@code accounts.sql} creates on a server that has none, and the migration. */
@Tag("slow")
class AccountsTest {

  /** An administrator without superuser rights, as a managed PostgreSQL has. */
  private static final String ADMINISTRATOR = "administrator";

  private static final List<String> REFUSED =
      List.of(
          "UPDATE plant SET name = 'moss'",
          "DELETE FROM plant",
          "TRUNCATE plant",
          "DROP TABLE plant",
          "ALTER TABLE plant ADD age int",
          "CREATE TEMPORARY TABLE another (id int)",
          "CREATE SCHEMA another",
          "SELECT FROM flyway_schema_history");

  @Test
  void service_may_only_insert_and_select() throws Exception {
    Program.requireInstalled("psql");
    try (DatabaseServer server = new DatabaseServer()) {
      server
          .database()
          .execute(
              "CREATE ROLE stranger LOGIN",
              "CREATE ROLE " + ADMINISTRATOR + " LOGIN CREATEROLE CREATEDB",
              "SET SESSION AUTHORIZATION " + ADMINISTRATOR,
              "CREATE DATABASE plants");
      Database database = new Database(server.port(), "plants");

      assertEquals(3, runScript("stranger", server).exitCode(), "it must create the accounts");
      runScript(ADMINISTRATOR, server).requireSuccess();
      Map<String, String> owner = database.environment("DATABASE_USERNAME", "plants_owner");
      owner.remove("JWT_SECRET");
      try (ServiceProcess migration = new ServiceProcess(owner, "migrate")) {
        assertEquals(0, migration.awaitExit(), migration::errors);
        assertEquals("", migration.errors());
        // The digits of the default locale are others.
        assertTrue(migration.output().matches("\\p{ASCII}*The tables are up to date.\n"));
      }
      runScript(ADMINISTRATOR, server).requireSuccess();
      runScript(ADMINISTRATOR, server).requireSuccess();

      Map<String, String> plants =
          database.environment("DATABASE_USERNAME", "plants", "DATABASE_MIGRATE", "off");
      try (ServiceProcess service = new ServiceProcess(plants).awaitReady()) {
        assertEquals(200, service.create(1, "fern").statusCode());
        assertEquals(200, service.create(1, "fern").statusCode());
      }
      for (String statement : REFUSED) {
        assertRefused(database, statement);
      }
      // Before version 15 only a superuser can prevent that an account creates a table in public.
      if (Integer.parseInt(database.single("SHOW server_version_num")) >= 150_000) {
        assertRefused(database, "CREATE TABLE another (id int)");
      }

      // Flyway reports a changed migration in several lines, the command in one.
      database.execute("UPDATE flyway_schema_history SET checksum = 1");
      try (ServiceProcess migration = new ServiceProcess(owner, "migrate")) {
        assertEquals(1, migration.awaitExit());
        String reason = "flyway_schema_history: Migration checksum mismatch ";
        String errors = migration.errors();
        assertTrue(errors.matches("plant-store migrate: " + reason + ".*\n"), errors);
      }
    }
  }

  private static Program.Ended runScript(String username, DatabaseServer server)
      throws IOException {
    Map<String, String> environment =
        Map.of("PGHOST", "localhost", "PGPORT", "" + server.port(), "PGUSER", username);
    String script = "src/main/scripts/accounts.sql";
    return Program.run(Path.of("."), environment, "psql", "-X", "-f", script, "plants");
  }

  private static void assertRefused(Database database, String statement) {
    SQLException refusal =
        assertThrows(
            SQLException.class,
            () -> database.execute("SET SESSION AUTHORIZATION plants", statement),
            statement);
    assertEquals("42501", refusal.getSQLState(), statement);
  }
}
