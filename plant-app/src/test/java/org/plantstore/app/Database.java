package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertNull;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.plantstore.app.development.DevelopmentKey;
import org.plantstore.domain.NewPlant;
import org.plantstore.fixture.DatabaseServer;

/** A database on a local PostgreSQL server. */
record Database(int port, String name) {

  private static final String USER = "postgres";
  private static final AtomicInteger CREATED = new AtomicInteger();

  /** Starts the server on first use. The server stops when the process exits. */
  private static final class SharedServer {
    static final Database DATABASE = of(new DatabaseServer());
  }

  /** Returns the database that every server contains. */
  static Database of(DatabaseServer server) {
    return new Database(server.port(), "postgres");
  }

  /** Returns the database that {@link ServiceProcess#shared()} uses. */
  static Database shared() {
    return SharedServer.DATABASE;
  }

  /** Creates an empty database on the server that tests share. */
  static Database create() throws SQLException {
    String name = "plants" + CREATED.incrementAndGet();
    shared().execute("CREATE DATABASE " + name);
    return new Database(shared().port(), name);
  }

  /** Returns this database with the port of a proxy. */
  Database through(NetworkProxy proxy) {
    return new Database(proxy.port(), name);
  }

  /**
   * Returns the settings of a service that uses this database, and other settings, which are pairs
   * of a name and a value. By default, creates wait for the database as long as possible, so that
   * they succeed even if the machine stalls.
   */
  Map<String, String> environment(String... others) {
    return environmentAt("127.0.0.1:" + port + "/" + name, others);
  }

  static Map<String, String> environmentAt(String address, String... others) {
    Map<String, String> environment = new HashMap<>();
    environment.put("DATABASE_URL", "jdbc:postgresql://" + address);
    environment.put("DATABASE_USERNAME", USER);
    environment.put("DATABASE_PASSWORD", USER);
    environment.put("DATABASE_TIMEOUT_SECONDS", "60");
    environment.put("JWT_SECRET", DevelopmentKey.SECRET);
    for (int other = 0; other < others.length; other += 2) {
      environment.put(others[other], others[other + 1]);
    }
    return environment;
  }

  Connection connect() throws SQLException {
    return DriverManager.getConnection(
        "jdbc:postgresql://localhost:" + port + "/" + name, USER, "");
  }

  /** Locks a table until the connection is closed. */
  Connection lock(String table) throws SQLException {
    Connection locker = connect();
    locker.setAutoCommit(false);
    locker.createStatement().execute("LOCK TABLE " + table);
    return locker;
  }

  /** Executes each statement in its own transaction. */
  void execute(String... statements) throws SQLException {
    try (Connection connection = connect()) {
      for (String sql : statements) {
        connection.createStatement().execute(sql);
      }
    }
  }

  String single(String query) throws SQLException {
    try (Connection connection = connect();
        ResultSet row = connection.createStatement().executeQuery(query)) {
      row.next();
      return row.getString(1);
    }
  }

  Map<Long, NewPlant> plants() throws SQLException {
    Map<Long, NewPlant> plants = new HashMap<>();
    String query = "SELECT id, name, tag FROM plant";
    try (Connection connection = connect();
        ResultSet row = connection.createStatement().executeQuery(query)) {
      while (row.next()) {
        NewPlant plant = new NewPlant(row.getLong(1), row.getString(2), row.getString(3));
        assertNull(plants.put(plant.id(), plant), "two plants have the same id");
      }
    }
    return plants;
  }
}
