package org.plantstore.adapter.persistence.database;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.plantstore.adapter.persistence.DatabaseServer;

class ConnectorTest {

  @TempDir Path data;

  @Test
  @Timeout(60)
  void attempt_that_fails_late_says_nothing_about_now() throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    try (DatabaseServer server = new DatabaseServer(data);
        ServerSocket network = new ServerSocket(0);
        Connector connector =
            new Connector(
                new DatabaseAccess(
                    "jdbc:postgresql://localhost:" + network.getLocalPort() + "/postgres",
                    "postgres",
                    "any"),
                new DatabaseTimeouts(60, 60))) {
      Future<Connection> opening = threads.submit(() -> connector.open(Duration.ofSeconds(30)));
      Socket silent = network.accept();
      try (Socket answered = network.accept();
          Socket database = new Socket("localhost", server.port())) {
        threads.execute(() -> forward(answered, database));
        threads.execute(() -> forward(database, answered));
        opening.get();

        assertTrue(isAttempting(), "the first attempt still waits");
        silent.close();
        while (isAttempting()) {
          LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
        }

        assertNull(connector.trouble());
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private static boolean isAttempting() {
    return Thread.getAllStackTraces().values().stream()
        .flatMap(Arrays::stream)
        .anyMatch(call ->
            call.getClassName().equals(Connector.class.getName())
                && call.getMethodName().equals("attempt"));
  }

  private static void forward(Socket from, Socket to) {
    try {
      from.getInputStream().transferTo(to.getOutputStream());
    } catch (IOException e) {
      // The test has ended, and closed them.
    }
  }
}
