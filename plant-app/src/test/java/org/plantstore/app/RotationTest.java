package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.plantstore.app.development.DevelopmentKey;

/** Rotates secrets as {@code operations.md} describes while callers keep creating plants. */
@Tag("slow")
class RotationTest {

  private static final int WRITERS = 16;
  private static final int PROGRESS = 10 * WRITERS;
  private static final String OLD = "the old secret, of 32 bytes or more";
  private static final String NEW = "the new secret, of 32 bytes or more";

  @TempDir Path folder;

  @Test
  void no_create_is_refused_while_the_secret_and_the_password_are_rotated() throws Exception {
    Database database = Database.create();
    database.execute(
        "CREATE ROLE rotating LOGIN PASSWORD 'old'", "GRANT CREATE ON SCHEMA public TO rotating");
    Path hostRules = Path.of(database.single("SHOW hba_file"));
    Files.writeString(
        hostRules, "host all rotating all scram-sha-256\n" + Files.readString(hostRules));
    database.execute("SELECT pg_reload_conf()");
    Path secrets = Files.writeString(folder.resolve("secrets"), OLD);
    Path password = Files.writeString(folder.resolve("password"), "old\n");
    Map<String, String> environment =
        database.environment(
            "DATABASE_USERNAME", "rotating",
            "DATABASE_PASSWORD_FILE", password.toString(),
            "JWT_SECRET_FILE", secrets.toString());
    environment.keySet().removeAll(Set.of("DATABASE_PASSWORD", "JWT_SECRET"));

    try (ServiceProcess service = new ServiceProcess(environment).awaitReady();
        Writers before = new Writers(WRITERS, service::address, token(OLD))) {
      before.awaitProgress(PROGRESS);
      replace(secrets, OLD + "\n" + NEW + "\n");
      service.awaitLine("JWT_SECRET_FILE has changed; now using 2 secrets");
      try (Writers after = new Writers(WRITERS, service::address, token(NEW))) {
        before.stopWithoutRetries();
        replace(secrets, NEW);
        service.awaitLine("JWT_SECRET_FILE has changed; now using 1 secret");
        String plant = ServiceProcess.json(1, "fern");
        assertEquals(
            401,
            ServiceProcess.send(ServiceProcess.createRequest(service.address(), token(OLD), plant))
                .statusCode());

        database.execute("ALTER ROLE rotating PASSWORD 'new'");
        replace(password, "new");
        database.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'rotating'");
        after.awaitProgress(PROGRESS);
        after.stopWithoutRetries();
      }
    }
  }

  private static void replace(Path file, String text) throws IOException {
    Path next = Files.writeString(file.resolveSibling("next"), text);
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
  }

  private static String token(String secret) {
    return DevelopmentKey.token(secret, "caller", Duration.ofHours(1));
  }
}
