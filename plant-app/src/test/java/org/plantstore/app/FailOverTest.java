package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertTimeout;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** Another server takes over, and creates are served again within 5 s, or the deadline and 2 s. */
@Tag("slow")
@Isolated
class FailOverTest {

  private static final int WRITERS = 16;
  private static final int PROGRESS = 10 * WRITERS;

  /** Those of {@link ChaosWriters} are positive. */
  private static final AtomicLong NEXT_ID = new AtomicLong(Long.MIN_VALUE);

  @TempDir static Path folder;

  @AutoClose private static DatabaseServer first;
  @AutoClose private static DatabaseServer second;

  @BeforeAll
  static void start() throws IOException, SQLException {
    first = new DatabaseServer(folder.resolve("first"));
    second = new DatabaseServer(folder.resolve("second"));
    second
        .database()
        .execute("CREATE TABLE plant (id bigint PRIMARY KEY, name text NOT NULL, tag text)");
  }

  @Test
  void restart_of_the_primary_is_waited_for_and_a_new_primary_is_followed() throws Exception {
    setReadOnly(second, "on");
    String hosts = "localhost:" + first.port() + ",localhost:" + second.port();
    try (ServiceProcess service = start(30, hosts + "/postgres");
        ChaosWriters writers = new ChaosWriters(WRITERS, () -> service)) {
      writers.awaitProgress(PROGRESS);
      first.kill();
      first.restart();
      writers.awaitProgress(PROGRESS);
      writers.stopWithoutRepeats();

      setReadOnly(first, "on");
      setReadOnly(second, "off");
      assertServedSoon(service);

      setReadOnly(first, "off");
      second.kill();
      assertServedSoon(service);
      second.restart();
    }
  }

  @Test
  @EnabledOnOs(value = OS.LINUX, disabledReason = "elsewhere 127.0.0.2 is no address")
  void name_that_means_another_address_is_followed_from_connections_that_fell_silent()
      throws IOException {
    // Of the two addresses one is dead.
    String both = "127.0.0.3 database\n127.0.0.1 localhost database\n";
    Path names = Files.writeString(folder.resolve("hosts"), both);
    try (NetworkProxy old = new NetworkProxy(first.port());
        NetworkProxy other =
            new NetworkProxy(InetAddress.getByName("127.0.0.2"), old.port(), second.port(), 1);
        ServiceProcess service =
            start(2, "database:" + old.port() + "/postgres", "-Djdk.net.hosts.file=" + names)) {
      assertServedSoon(service);

      old.abandonConnections();
      old.setTarget(-1); // new connections are closed
      Files.writeString(names, "127.0.0.1 localhost\n127.0.0.2 database\n");
      assertServedSoon(service);

      // The name does not resolve for a while.
      Files.writeString(names, "127.0.0.1 localhost\n");
      other.refuse();
      service.awaitReadiness(503);
      other.heal();
      Files.writeString(names, "127.0.0.1 localhost\n127.0.0.2 database\n");
      assertServedSoon(service);

      // The same address leads to another server.
      other.abandonConnections();
      other.setTarget(first.port());
      assertServedSoon(service);
    }
  }

  private static ServiceProcess start(int deadline, String address, String... javaOptions) {
    Map<String, String> environment = Database.environment("jdbc:postgresql://" + address);
    environment.put("JDK_JAVA_OPTIONS", String.join(" ", javaOptions));
    environment.put("DATABASE_TIMEOUT_SECONDS", String.valueOf(deadline));
    return new ServiceProcess(environment).awaitReady();
  }

  /** Several times, because any connection of the pool may lead to the wrong server. */
  private static void assertServedSoon(ServiceProcess service) {
    assertTimeout(
        Duration.ofSeconds(7), // for a busy machine
        () -> Await.until("ten creates in a row", () -> tenAreServed(service)));
  }

  private static boolean tenAreServed(ServiceProcess service) {
    return Stream.generate(() -> service.create(NEXT_ID.incrementAndGet(), "fern").statusCode())
        .limit(10)
        .allMatch(status -> status == 200);
  }

  /** Makes the server look like a standby to clients, and keeps their connections. */
  private static void setReadOnly(DatabaseServer server, String value) throws SQLException {
    server
        .database()
        .execute(
            "SET default_transaction_read_only = off",
            "ALTER SYSTEM SET default_transaction_read_only = " + value,
            "SELECT pg_reload_conf()");
  }
}
