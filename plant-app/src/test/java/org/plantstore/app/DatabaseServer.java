package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A durable PostgreSQL, which can be killed and restarted; its port stays free when it is down. */
final class DatabaseServer implements AutoCloseable {

  private final int port = ServiceProcess.freePort();
  private final Path data;
  private EmbeddedPostgres server;

  /** Starts a server with temporary data. */
  DatabaseServer() {
    this(assertDoesNotThrow(() -> Files.createTempDirectory(Path.of("target"), "postgres")));
  }

  /** Starts a server whose data is in this folder. */
  DatabaseServer(Path data) {
    this.data = data;
    this.server = assertDoesNotThrow(this::start);
  }

  private EmbeddedPostgres start() throws IOException {
    Files.deleteIfExists(data.resolve("epg-lock")); // which a start that failed keeps
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

  /** Kills all processes of the server at once, like a power failure. */
  void kill() throws IOException {
    String pid = Files.readAllLines(data.resolve("postmaster.pid")).get(0).strip();
    ProcessHandle postmaster = ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
    List<ProcessHandle> processes =
        Stream.concat(Stream.of(postmaster), postmaster.descendants()).toList();
    processes.forEach(ProcessHandle::destroyForcibly);
    processes.forEach(process -> process.onExit().join());
    server.close(); // finds nothing to stop
  }

  /** Restarts the server, once the kernel has removed the remains of the killed one. */
  void restart() {
    Await.until(() -> server = start());
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
