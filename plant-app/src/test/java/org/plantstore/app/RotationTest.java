package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.plantstore.app.development.DevelopmentKey;

/** Secrets that change, as the page on operations says, while callers create plants without end. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class RotationTest {

  private static final int CALLERS = 16;
  private static final String OLD = "the old secret, of 32 bytes or more";
  private static final String NEW = "the new secret, of 32 bytes or more";

  @TempDir Path folder;

  private final AtomicLong lastId = new AtomicLong();
  private final Set<Integer> statuses = ConcurrentHashMap.newKeySet();

  /** The token of the last answered create of each caller. */
  private final Map<Thread, String> answered = new ConcurrentHashMap<>();

  private volatile String token = token(OLD);
  private volatile boolean isDone;

  @Test
  void secret_and_password_change_without_a_refused_create() throws Exception {
    Database database = Database.create();
    database.execute(
        "CREATE ROLE rotating LOGIN PASSWORD 'old'", "GRANT CREATE ON SCHEMA public TO rotating");
    Path accounts = Path.of(database.single("SHOW hba_file"));
    Files.writeString(
        accounts, "host all rotating all scram-sha-256\n" + Files.readString(accounts));
    database.execute("SELECT pg_reload_conf()");
    Path secrets = Files.writeString(folder.resolve("secrets"), OLD);
    Path password = Files.writeString(folder.resolve("password"), "old\n");
    Map<String, String> environment = database.environment();
    environment.put("DATABASE_USERNAME", "rotating");
    environment.put("DATABASE_PASSWORD_FILE", password.toString());
    environment.put("JWT_SECRET_FILE", secrets.toString());
    environment.keySet().removeAll(Set.of("DATABASE_PASSWORD", "JWT_SECRET"));

    ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
    try (ServiceProcess service = new ServiceProcess(environment).awaitReady()) {
      for (int caller = 0; caller < CALLERS; caller++) {
        callers.execute(() -> createWithoutEnd(service));
      }
      replace(secrets, OLD + "\n" + NEW + "\n");
      service.awaitLine("JWT_SECRET_FILE has changed, and now has 2 secrets");
      token = token(NEW);
      awaitAnswers();
      replace(secrets, NEW);
      service.awaitLine("JWT_SECRET_FILE has changed, and now has 1 secret");
      assertEquals(401, create(service, token(OLD)));

      database.execute("ALTER ROLE rotating PASSWORD 'new'");
      replace(password, "new");
      database.execute(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'rotating'");
      awaitAnswers();
      isDone = true;
      callers.shutdown();
      assertTrue(callers.awaitTermination(Await.LIMIT.toSeconds(), TimeUnit.SECONDS));
    }
    assertEquals(Set.of(200), statuses);
  }

  private static void replace(Path file, String text) throws Exception {
    Path next = Files.writeString(file.resolveSibling("next"), text);
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
  }

  private static String token(String secret) {
    return DevelopmentKey.token(secret, "caller", Duration.ofHours(1));
  }

  private void createWithoutEnd(ServiceProcess service) {
    while (!isDone) {
      String used = token;
      statuses.add(create(service, used));
      answered.put(Thread.currentThread(), used);
    }
  }

  private int create(ServiceProcess service, String used) {
    String plant = "{\"id\":" + lastId.incrementAndGet() + ",\"name\":\"fern\"}";
    return service.create(plant, Map.of("Authorization", "Bearer " + used)).statusCode();
  }

  /** Waits until each caller has an answer to the current token. */
  private void awaitAnswers() {
    answered.clear();
    Await.until(
        "each caller has an answer",
        () -> answered.size() == CALLERS && Set.of(token).containsAll(answered.values()));
  }
}
