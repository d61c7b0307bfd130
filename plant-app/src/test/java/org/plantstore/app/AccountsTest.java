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
import org.plantstore.fixture.DatabaseServer;

/**
 * Runs {@code accounts.sql} and {@code migrate}, and checks which statements the service's role may
 * execute.
 */
@Tag("slow")
class AccountsTest {

  /** A role that is not a superuser, such as the administrator of a managed PostgreSQL. */
  private static final String ADMINISTRATOR = "administrator";

  /** Statements that the service's role must not be permitted to execute. */
  private static final List<String> FORBIDDEN =
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
  void service_role_may_only_insert_and_select() throws Exception {
    Program.requireInstalled("psql");
    try (DatabaseServer server = new DatabaseServer()) {
      Database.of(server)
          .execute(
              "CREATE ROLE stranger LOGIN",
              "CREATE ROLE " + ADMINISTRATOR + " LOGIN CREATEROLE CREATEDB",
              "SET SESSION AUTHORIZATION " + ADMINISTRATOR,
              "CREATE DATABASE plants");
      Database database = new Database(server.port(), "plants");

      assertEquals(3, runScript("stranger", server).exitCode(), "stranger may not create roles");
      runScript(ADMINISTRATOR, server).requireSuccess();
      Map<String, String> ownerSettings = database.environment("DATABASE_USERNAME", "plants_owner");
      ownerSettings.remove("JWT_SECRET");
      try (ServiceProcess migration = new ServiceProcess(ownerSettings, "migrate")) {
        assertEquals(0, migration.awaitExit(), migration::errors);
        assertEquals("", migration.errors());
        // Numbers must not be formatted with the digits of the default locale, fa-IR.
        assertTrue(migration.output().matches("\\p{ASCII}*The tables are up to date.\n"));
      }
      runScript(ADMINISTRATOR, server).requireSuccess();
      runScript(ADMINISTRATOR, server).requireSuccess();

      Map<String, String> settings =
          database.environment("DATABASE_USERNAME", "plants", "DATABASE_MIGRATE", "off");
      try (ServiceProcess service = new ServiceProcess(settings).awaitReady()) {
        assertEquals(200, service.create(1, "fern").statusCode());
        assertEquals(200, service.create(1, "fern").statusCode());
      }
      for (String statement : FORBIDDEN) {
        assertRefused(database, statement);
      }
      // Before PostgreSQL 15, every role may create tables in the schema public unless a superuser
      // revokes that right.
      if (Integer.parseInt(database.single("SHOW server_version_num")) >= 150_000) {
        assertRefused(database, "CREATE TABLE another (id int)");
      }
    }
  }

  private static Program.Result runScript(String username, DatabaseServer server)
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
