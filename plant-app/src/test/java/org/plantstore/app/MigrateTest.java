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

    try (ServiceProcess migration = new ServiceProcess(owner, "migrate")) {
      assertEquals(0, migration.awaitExit(), migration::errors);
      assertEquals("", migration.errors());
      assertTrue(migration.output().endsWith("The tables are up to date.\n"), migration::output);
      // The digits of the default locale are others.
      assertTrue(migration.output().matches("\\p{ASCII}*"), migration::output);
    }
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

    // Flyway reports a changed migration in several lines, the command in one.
    database.execute("UPDATE flyway_schema_history SET checksum = 1");
    String reason = "the tables of the database cannot be brought up to date: ";
    try (ServiceProcess migration = new ServiceProcess(owner, "migrate")) {
      assertEquals(1, migration.awaitExit());
      String errors = migration.errors();
      assertTrue(errors.matches("plant-store migrate: " + reason + ".*\n"), errors);
    }
  }
}
