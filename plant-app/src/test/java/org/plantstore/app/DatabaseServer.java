package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A PostgreSQL as durable as one in production, which can be killed and started again. */
final class DatabaseServer implements AutoCloseable {

  private final Path data;
  private EmbeddedPostgres server;

  /** Starts a server with data of its own, which nothing is left of when it stops. */
  DatabaseServer() {
    data = assertDoesNotThrow(() -> Files.createTempDirectory("plant-store"));
    server = assertDoesNotThrow(() -> durable().setDataDirectory(data).start());
  }

  /** Starts a server whose data are kept, at a port or, if that is 0, at any. */
  DatabaseServer(Path data, int port) throws IOException {
    this.data = data;
    this.server = start(data, port);
  }

  private static EmbeddedPostgres start(Path data, int port) throws IOException {
    return durable().setDataDirectory(data).setCleanDataDirectory(false).setPort(port).start();
  }

  private static EmbeddedPostgres.Builder durable() {
    return EmbeddedPostgres.builder()
        .setServerConfig("fsync", "on")
        .setServerConfig("full_page_writes", "on")
        .setServerConfig("synchronous_commit", "on");
  }

  int port() {
    return server.getPort();
  }

  Database database() {
    return new Database(port(), "postgres");
  }

  /** Kills all processes of the server at once, as a machine does that loses its power. */
  void kill() throws IOException {
    String pid = Files.readAllLines(data.resolve("postmaster.pid")).get(0).strip();
    ProcessHandle postmaster = ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
    List<ProcessHandle> processes = new ArrayList<>(List.of(postmaster));
    processes.addAll(postmaster.descendants().toList());
    processes.forEach(ProcessHandle::destroyForcibly);
    processes.forEach(process -> process.onExit().join());
    server.close(); // finds nothing to stop, and gives its lock on the data back
  }

  /** Starts the server again, once the kernel has taken down what a killed one left. */
  void restart() {
    int port = port();
    Await.until(
        "the server starts again",
        () -> {
          try {
            server = start(data, port);
            return true;
          } catch (IOException | IllegalStateException e) {
            return false;
          }
        });
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
