package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The command that migrates the tables, and a service that does not migrate. */
@Execution(ExecutionMode.CONCURRENT)
class MigrateTest {

  private static final List<String> FORBIDDEN =
      List.of(
          "UPDATE plant SET name = 'moss'",
          "DELETE FROM plant",
          "TRUNCATE plant",
          "DROP TABLE plant",
          "ALTER TABLE plant ADD age int",
          "CREATE INDEX ON plant (name)",
          "CREATE TABLE another (id int)",
          "CREATE TEMPORARY TABLE another (id int)",
          "CREATE SCHEMA another",
          "SELECT FROM flyway_schema_history");

  @Test
  void service_whose_account_may_only_insert_and_select_uses_what_the_command_has_made()
      throws Exception {
    Database database = Database.create();
    String accounts = Files.readString(Path.of("src/main/scripts/accounts.sql"));
    Map<String, String> owner = database.environment(Map.of("DATABASE_USERNAME", "plants_owner"));
    owner.remove("JWT_SECRET");
    Map<String, String> plants =
        database.environment(Map.of("DATABASE_USERNAME", "plants", "DATABASE_MIGRATE", "off"));
    database.execute(accounts);
    assertRefused(
        "there is no table plant for plants; run plant-store migrate, and accounts.sql after it",
        plants);

    try (ServiceProcess migration = ServiceProcess.of(owner, "migrate")) {
      assertEquals(0, migration.awaitExit(), migration::errors);
      assertTrue(migration.output().endsWith("The tables are up to date.\n"), migration::output);
    }
    assertRefused(
        "plants must be allowed to insert into and to select from the table plant", plants);

    database.execute(accounts);
    try (ServiceProcess service = new ServiceProcess(plants).awaitReady()) {
      assertEquals(200, service.create(1, "fern").statusCode());
      assertEquals(200, service.create(1, "fern").statusCode());
    }
    for (String statement : FORBIDDEN) {
      SQLException refusal =
          assertThrows(
              SQLException.class, () -> database.execute("SET ROLE plants", statement), statement);
      assertEquals("42501", refusal.getSQLState(), statement);
    }
    assertEquals("fern", database.single("SELECT name FROM plant"));
  }

  private static void assertRefused(String reason, Map<String, String> settings) {
    try (ServiceProcess service = new ServiceProcess(settings)) {
      assertEquals(1, service.awaitExit());
      assertEquals("plant-store does not start: " + reason + "\n", service.errors());
    }
  }
}
