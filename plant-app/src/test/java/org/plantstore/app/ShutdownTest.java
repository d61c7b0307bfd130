package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** SIGTERM under load: no request fails, and none that was answered is lost. */
@Timeout(180)
@Tag("slow")
class ShutdownTest {

  private static final int CLIENTS = 16;
  private static final long CREATES_BEFORE = 500;
  private static final Duration EXIT_TIMEOUT = Duration.ofSeconds(60);

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicLong ids = new AtomicLong();
  private final AtomicLong created = new AtomicLong();
  private final List<ServiceProcess> services = new ArrayList<>();
  private EmbeddedPostgres database;

  @BeforeEach
  void start() throws IOException {
    database = EmbeddedDatabase.start();
  }

  @AfterEach
  void stop() throws IOException {
    threads.shutdownNow();
    services.forEach(ServiceProcess::close);
    database.close();
  }

  @Test
  void service_that_is_asked_to_end_serves_on_and_fails_no_request() throws Exception {
    ServiceProcess service = startService("3");
    int port = service.address().getPort();
    List<Future<?>> clients = startClients(() -> createUntilLast(port));
    awaitCreates(CREATES_BEFORE);

    service.terminate();

    service.awaitReadiness(503);
    assertEquals(200, service.health("liveness").statusCode());
    try (KeepAliveClient late = new KeepAliveClient(port)) {
      assertEquals(200, late.create(ids.incrementAndGet()));
      created.incrementAndGet();
      assertTrue(late.isLast(), "a client is told to connect elsewhere");
    }
    for (Future<?> client : clients) {
      client.get();
    }
    assertEquals(0, service.awaitExit(EXIT_TIMEOUT));
    assertEquals(created.get(), storedPlants());
  }

  @Test
  void services_that_are_restarted_in_turn_behind_a_balancer_fail_no_request() throws Exception {
    AtomicBoolean enough = new AtomicBoolean();
    try (Balancer balancer = new Balancer()) {
      ServiceProcess first = startService("2");
      ServiceProcess second = startService("2");
      balancer.add(first);
      balancer.add(second);
      List<Future<?>> clients =
          startClients(() -> {
            while (!enough.get()) {
              createUntilLast(balancer.port(), enough);
            }
            return null;
          });

      for (ServiceProcess old : List.of(first, second)) {
        awaitCreates(created.get() + CREATES_BEFORE);
        old.terminate();
        assertEquals(0, old.awaitExit(EXIT_TIMEOUT));
        balancer.remove(old);
        balancer.add(startService("2"));
      }
      awaitCreates(created.get() + CREATES_BEFORE);
      enough.set(true);

      for (Future<?> client : clients) {
        client.get();
      }
      assertEquals(created.get(), storedPlants());
    }
  }

  private ServiceProcess startService(String drainSeconds) {
    Map<String, String> environment = EmbeddedDatabase.environment(database);
    environment.put("DRAIN_SECONDS", drainSeconds);
    ServiceProcess service = new ServiceProcess(environment);
    services.add(service);
    return service.awaitReady();
  }

  private List<Future<?>> startClients(Callable<?> client) {
    List<Future<?>> clients = new ArrayList<>();
    for (int number = 0; number < CLIENTS; number++) {
      clients.add(threads.submit(client));
    }
    return clients;
  }

  private Void createUntilLast(int port) throws IOException {
    return createUntilLast(port, new AtomicBoolean());
  }

  private Void createUntilLast(int port, AtomicBoolean enough) throws IOException {
    try (KeepAliveClient client = new KeepAliveClient(port)) {
      while (!client.isLast() && !enough.get()) {
        assertEquals(200, client.create(ids.incrementAndGet()));
        created.incrementAndGet();
      }
    }
    return null;
  }

  private void awaitCreates(long number) throws InterruptedException {
    while (created.get() < number) {
      Thread.sleep(10);
    }
  }

  private long storedPlants() throws Exception {
    try (Connection connection = database.getPostgresDatabase().getConnection();
        ResultSet row = connection.createStatement().executeQuery("SELECT count(*) FROM plant")) {
      row.next();
      return row.getLong(1);
    }
  }
}
