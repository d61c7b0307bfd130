package org.plantstore.adapter.persistence;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextBuilder;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.annotation.ContextConfigurer;
import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.exceptions.ConfigurationException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.stream.Stream;

/**
 * Brings this adapter's settings along, so that a service which exchanges the adapter exchanges
 * them too, and refuses to start with a database that cannot keep the store's rules.
 */
@ContextConfigurer
public final class PersistenceSettings implements ApplicationContextConfigurer {

  private static final int OLDEST_SERVER = 14;
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  @Override
  public void configure(ApplicationContextBuilder builder) {
    builder.propertySources(
        PropertySource.of(
            "plant-adapter-persistence",
            Map.ofEntries(
                Map.entry("datasources.default.url", "${database.url:}"),
                Map.entry("datasources.default.username", "${database.username:}"),
                Map.entry("datasources.default.driver-class-name", "org.postgresql.Driver"),
                Map.entry("datasources.default.dialect", "POSTGRES"),
                // The driver's own check costs no statement; Micronaut would add one.
                Map.entry("datasources.default.automatic-validation-query", false),
                Map.entry("datasources.default.maximum-pool-size", 10),
                Map.entry("datasources.default.connection-timeout", TIMEOUT.toMillis()),
                // Where it is off, a crash of the server would lose acknowledged plants (R4).
                // Stricter settings, such as remote_apply, stay.
                Map.entry(
                    "datasources.default.connection-init-sql",
                    "SELECT set_config('synchronous_commit', 'on', false)"
                        + " WHERE current_setting('synchronous_commit') = 'off'"),
                Map.entry(
                    "datasources.default.data-source-properties.ApplicationName", "plant-store"),
                // A server that vanished without a word must not hold callers for ever.
                Map.entry(
                    "datasources.default.data-source-properties.connectTimeout",
                    TIMEOUT.toSeconds()),
                Map.entry(
                    "datasources.default.data-source-properties.socketTimeout",
                    TIMEOUT.toSeconds()),
                Map.entry("datasources.default.data-source-properties.tcpKeepAlive", "true"),
                // Details quote rows, and a plant's text has no place in a log.
                Map.entry(
                    "datasources.default.data-source-properties.logServerErrorDetail", "false"),
                Map.entry("flyway.datasources.default.enabled", true),
                Map.entry(
                    "flyway.datasources.default.locations",
                    "classpath:org/plantstore/adapter/persistence")),
            // Below every other source, so that each of these can be overridden.
            Integer.MIN_VALUE));
  }

  @Override
  public void configure(ApplicationContext context) {
    Environment environment = context.getEnvironment();
    String url = required(environment, "DATABASE_URL", "database.url");
    if (!url.startsWith("jdbc:postgresql:")) {
      throw new ConfigurationException(
          "DATABASE_URL must be a JDBC address of PostgreSQL, such as"
              + " jdbc:postgresql://localhost:5432/plants");
    }
    Properties connection = new Properties();
    connection.setProperty("user", required(environment, "DATABASE_USERNAME", "database.username"));
    connection.setProperty("password", password(environment));
    connection.setProperty("connectTimeout", String.valueOf(TIMEOUT.toSeconds()));
    connection.setProperty("socketTimeout", String.valueOf(TIMEOUT.toSeconds()));
    requireServerThatKeepsPlants(url, connection);
  }

  static String password(Environment environment) {
    return required(environment, "DATABASE_PASSWORD", "database.password");
  }

  /** Reads past the framework, which would replace what looks like a placeholder in a password. */
  private static String required(Environment environment, String variable, String property) {
    return environment.getPropertySources().stream()
        .sorted(Comparator.comparingInt(PropertySource::getOrder).reversed())
        .flatMap(source -> Stream.of(property, variable).map(source::get))
        .filter(Objects::nonNull)
        .map(String::valueOf)
        .findFirst()
        .filter(value -> !value.isEmpty())
        .orElseThrow(() ->
            new ConfigurationException(
                "DATABASE_URL, DATABASE_USERNAME and DATABASE_PASSWORD must be set, but "
                    + variable
                    + " is not"));
  }

  private static void requireServerThatKeepsPlants(String url, Properties properties) {
    try (Connection connection = DriverManager.getConnection(url, properties);
        Statement statement = connection.createStatement()) {
      requireVersion(connection.getMetaData().getDatabaseMajorVersion());
      try (ResultSet encoding = statement.executeQuery("SHOW server_encoding")) {
        encoding.next();
        if (!encoding.getString(1).equals("UTF8")) {
          throw new ConfigurationException(
              "the database must have the encoding UTF8 to keep every name, but has "
                  + encoding.getString(1));
        }
      }
    } catch (SQLException e) {
      throw new ConfigurationException(
          "the database cannot be used; check DATABASE_URL, DATABASE_USERNAME, DATABASE_PASSWORD and"
              + " the server: "
              + new PostgresFailure(e).describe());
    }
  }

  static void requireVersion(int majorVersion) {
    if (majorVersion < OLDEST_SERVER) {
      throw new ConfigurationException(
          "the database must be PostgreSQL " + OLDEST_SERVER + " or later, but is " + majorVersion);
    }
  }
}
