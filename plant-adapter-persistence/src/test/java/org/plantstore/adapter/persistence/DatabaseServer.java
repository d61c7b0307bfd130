package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;

/** A PostgreSQL server with the durability settings of a production server. */
public final class DatabaseServer extends PostgresServer {

  /** The server that all tests share. It ends with their process. */
  public static final DatabaseServer SERVER = new DatabaseServer();

  private final Path data =
      assertDoesNotThrow(() -> Files.createTempDirectory(Path.of("target"), "postgres"));

  private EmbeddedPostgres server = assertDoesNotThrow(() -> start(freePort()));

  private DatabaseServer() {
    super("postgres");
  }

  @Override
  public int port() {
    return server.getPort();
  }

  @Override
  protected Path data() {
    return data;
  }

  /** Starts an instance, which creates the tables, and closes it. */
  public void migrate() {
    connect(Map.of()).close();
  }

  /**
   * Resets the role and the database, and drops all tables, all functions, the schema {@code
   * garden}, and the role {@code gardener}.
   */
  public void reset() {
    execute(
        "SET default_transaction_read_only = off",
        "ALTER ROLE postgres RESET ALL",
        "ALTER DATABASE postgres RESET ALL",
        "GRANT CONNECT ON DATABASE postgres TO PUBLIC",
        "DROP SCHEMA IF EXISTS garden CASCADE",
        "DROP SCHEMA public CASCADE",
        "CREATE SCHEMA public",
        "GRANT USAGE ON SCHEMA public TO PUBLIC",
        "DROP ROLE IF EXISTS gardener");
  }

  /** Kills the server, and restarts it with the data on disk. */
  void crash() throws Exception {
    int port = port();
    kill();
    server.close(); // releases its resources
    Calls.await(() -> {
      try {
        server = start(port);
        return true;
      } catch (IllegalStateException | IOException e) {
        return false; // The kernel may not have removed the shared memory of the killed processes.
      }
    });
  }

  /** Returns a free port below 32768, because the ports of clients are higher. */
  private static int freePort() {
    while (true) {
      try (ServerSocket free = new ServerSocket(new Random().nextInt(10_000, 32_768))) {
        return free.getLocalPort();
      } catch (IOException e) {
        // The port is taken, so the next iteration tries another one.
      }
    }
  }

  private EmbeddedPostgres start(int port) throws IOException {
    Files.deleteIfExists(data.resolve("epg-lock")); // left behind by a start that failed
    return EmbeddedPostgres.builder()
        .setDataDirectory(data)
        .setCleanDataDirectory(false)
        .setPort(port)
        .setServerConfig("fsync", "on")
        .setServerConfig("full_page_writes", "on")
        .setServerConfig("synchronous_commit", "on")
        // Autovacuum consumes transaction IDs, which a test counts.
        .setServerConfig("autovacuum", "off")
        .start();
  }
}
