package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The command that makes the tables, and a service that leaves them to it. */
class MigrateTest {

  @Test
  void service_whose_account_may_only_insert_and_select_uses_what_the_command_has_made()
      throws Exception {
    Database database = Database.create();
    Map<String, String> owner = new HashMap<>(database.environment());
    owner.remove("JWT_SECRET");
    Map<String, String> clerk =
        database.environment(Map.of("DATABASE_USERNAME", "clerk", "DATABASE_MIGRATE", "off"));
    database.execute("CREATE ROLE clerk LOGIN");
    try (ServiceProcess early = new ServiceProcess(clerk)) {
      assertEquals(1, early.awaitExit());
      assertTrue(early.errors().contains("there is no table plant; run plant-store migrate"));
    }

    try (ServiceProcess migration = run("migrate", owner)) {
      assertEquals(0, migration.awaitExit(), migration::errors);
      assertTrue(migration.output().endsWith("The tables are up to date.\n"), migration::output);
    }

    database.execute("GRANT INSERT, SELECT ON plant TO clerk");
    try (ServiceProcess service = new ServiceProcess(clerk).awaitReady()) {
      assertEquals(200, service.create(1, "fern").statusCode());
    }
  }

  @Test
  void command_that_there_is_not_is_refused() {
    try (ServiceProcess process = run("migrat", Map.of())) {
      assertEquals(1, process.awaitExit());
      assertEquals("plant-store has no command migrat\n", process.errors());
    }
  }

  private static ServiceProcess run(String command, Map<String, String> environment) {
    ProcessBuilder builder = ServiceProcess.java(System.getProperty("java.class.path"));
    builder.command().add(command);
    return new ServiceProcess(builder, environment);
  }
}
