package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * A durable PostgreSQL server that can be killed and restarted. While the server is down, its port
 * stays free.
 */
final class DatabaseServer implements AutoCloseable {

  private final int port = ServiceProcess.freePort();
  private final Path data;
  private EmbeddedPostgres server;

  /** Starts a server with a temporary data directory. */
  DatabaseServer() {
    this(assertDoesNotThrow(() -> Files.createTempDirectory(Path.of("target"), "postgres")));
  }

  /** Starts a server with this data directory. */
  DatabaseServer(Path data) {
    this.data = data;
    this.server = assertDoesNotThrow(this::start);
  }

  private EmbeddedPostgres start() throws IOException {
    Files.deleteIfExists(data.resolve("epg-lock")); // left behind by a failed start
    return EmbeddedPostgres.builder()
        .setDataDirectory(data)
        .setCleanDataDirectory(false)
        .setPort(port)
        .setServerConfig("fsync", "on")
        .setServerConfig("full_page_writes", "on")
        .setServerConfig("synchronous_commit", "on")
        .start();
  }

  int port() {
    return port;
  }

  Database database() {
    return new Database(port, "postgres");
  }

  /** Kills all processes of the server at once, as a power failure would. */
  void kill() throws IOException {
    String pid = Files.readAllLines(data.resolve("postmaster.pid")).get(0).strip();
    ProcessHandle postmaster = ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
    List<ProcessHandle> processes =
        Stream.concat(Stream.of(postmaster), postmaster.descendants()).toList();
    processes.forEach(ProcessHandle::destroyForcibly);
    processes.forEach(process -> process.onExit().join());
    server.close(); // no process is left to stop
  }

  /** Restarts the server as soon as the kernel has released the resources of the killed one. */
  void restart() {
    Await.until(() -> server = start());
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
