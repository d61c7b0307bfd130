package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A durable PostgreSQL, which can be killed and restarted. */
final class DatabaseServer implements AutoCloseable {

  private final Path data;
  private EmbeddedPostgres server;

  /** Starts a server with temporary data. */
  DatabaseServer() {
    data = assertDoesNotThrow(() -> Files.createTempDirectory("plant-store"));
    server = assertDoesNotThrow(() -> durable().setDataDirectory(data).start());
  }

  /** Starts a server that keeps its data, at a port that stays free when it is down. */
  DatabaseServer(Path data) throws IOException {
    this.data = data;
    this.server = start(data, ServiceClient.freePort());
  }

  private static EmbeddedPostgres start(Path data, int port) throws IOException {
    Files.deleteIfExists(data.resolve("epg-lock")); // which a start that failed keeps
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
    int port = port();
    Await.success("the server starts again", () -> server = start(data, port));
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
