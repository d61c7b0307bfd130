package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.plantstore.adapter.persistence.Calls.fern;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.env.Environment;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.function.Executable;
import org.plantstore.domain.PlantStore;

/** A PostgreSQL server on this machine, and instances of a service that use it. */
public abstract class PostgresServer {

  private final String role;

  protected PostgresServer(String role) {
    this.role = role;
  }

  public abstract int port();

  public ApplicationContext connect(Map<String, Object> replacements, Object... beans) {
    return ApplicationContext.builder()
        .properties(settings(replacements))
        .singletons(beans)
        .start();
  }

  /** Starts an instance, asserts that it stores plants, and stops it. */
  public void assertServes(Map<String, Object> replacements) {
    try (ApplicationContext instance = connect(replacements)) {
      assertEquals(fern(1), instance.getBean(PlantStore.class).putIfAbsent(fern(1)));
    }
  }

  /** Asserts that an instance does not start, and returns the reason. */
  public String refusal(Map<String, Object> replacements) {
    Map<String, Object> once = new HashMap<>(Map.of("database.start.timeout.seconds", 0));
    once.putAll(replacements);
    return reason(() -> connect(once).close());
  }

  /** Asserts that the command migrate fails, and returns the reason. */
  public String refusalOfMigration() {
    return reason(() -> PersistenceStart.migrate(environment(Map.of())));
  }

  private static String reason(Executable refused) {
    return String.valueOf(assertThrows(ConfigurationException.class, refused).getMessage());
  }

  /** Returns the faults that the command check reports. */
  public List<String> check(Map<String, Object> replacements) {
    StringWriter report = new StringWriter();
    int exitCode = DatabaseCheck.report(environment(replacements), new PrintWriter(report));
    String good = "✔ database: " + url("postgres") + " can store plants\n";
    List<String> faults =
        report
            .toString()
            .replace(good, "")
            .lines()
            .map(line -> line.replaceFirst("✘ database: ", ""))
            .toList();
    assertEquals(faults.isEmpty() ? 0 : 1, exitCode);
    return faults;
  }

  private Environment environment(Map<String, Object> replacements) {
    return ApplicationContext.builder()
        .properties(settings(replacements))
        .build()
        .getEnvironment()
        .start();
  }

  /**
   * Returns the settings of an instance. The replacements override the settings of this server. The
   * timeouts are so long that they do not pass even if the machine stalls.
   */
  protected Map<String, Object> settings(Map<String, Object> replacements) {
    Map<String, Object> settings = new HashMap<>();
    settings.put("database.url", url("postgres"));
    settings.put("database.username", role);
    settings.put("database.password", "any");
    settings.put("database.timeout.seconds", 60);
    settings.put("database.start.timeout.seconds", 60);
    settings.putAll(replacements);
    return settings;
  }

  public String url(String database) {
    return "jdbc:postgresql://localhost:" + port() + "/" + database;
  }

  public Connection connection() throws SQLException {
    return DriverManager.getConnection(url("postgres"), role, "any");
  }

  /** Executes each statement in a transaction of its own. */
  public void execute(String... statements) {
    try (Connection connection = connection();
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  public boolean isAnyoneLocked() throws SQLException {
    String waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    return !single(waiting).equals("0");
  }

  public String single(String query) throws SQLException {
    try (Connection connection = connection();
        ResultSet row = connection.createStatement().executeQuery(query)) {
      row.next();
      return String.valueOf(row.getString(1));
    }
  }
}
