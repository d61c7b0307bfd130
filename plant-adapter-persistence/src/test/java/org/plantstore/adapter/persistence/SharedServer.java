package org.plantstore.adapter.persistence;

import java.io.IOException;
import java.util.Map;
import org.plantstore.fixture.DatabaseServer;

/** The PostgreSQL server that all tests share. It ends with their process. */
public final class SharedServer extends PostgresServer {

  public static final SharedServer SERVER = new SharedServer();

  private final DatabaseServer server = new DatabaseServer();

  private SharedServer() {
    super("postgres");
  }

  @Override
  public int port() {
    return server.port();
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
  void crash() throws IOException {
    server.kill();
    server.restart();
  }
}
