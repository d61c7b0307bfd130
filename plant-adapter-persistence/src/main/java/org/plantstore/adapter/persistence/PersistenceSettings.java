package org.plantstore.adapter.persistence;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextBuilder;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.annotation.ContextConfigurer;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.exceptions.ConfigurationException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.Properties;

/**
 * Brings this adapter's settings along, so that a service which exchanges the adapter exchanges
 * them too, and refuses to start with a database that cannot keep the store's rules.
 */
@ContextConfigurer
public final class PersistenceSettings implements ApplicationContextConfigurer {

  private static final int OLDEST_SERVER = 14;
  private static final String TIMEOUT_SECONDS = "5";

  @Override
  public void configure(ApplicationContextBuilder builder) {
    builder.propertySources(
        PropertySource.of(
            "plant-adapter-persistence",
            Map.ofEntries(
                Map.entry("datasources.default.url", "${database.url:}"),
                Map.entry("datasources.default.username", "${database.username:}"),
                Map.entry("datasources.default.password", "${database.password:}"),
                Map.entry("datasources.default.driver-class-name", "org.postgresql.Driver"),
                Map.entry("datasources.default.dialect", "POSTGRES"),
                // The driver's own check costs no statement; Micronaut would add one.
                Map.entry("datasources.default.automatic-validation-query", false),
                Map.entry("datasources.default.maximum-pool-size", 10),
                Map.entry("datasources.default.connection-timeout", 5_000),
                // Whoever turned synchronous commit off for the database would lose plants that
                // were
                // acknowledged (R4). Stricter settings, such as remote_apply, stay.
                Map.entry(
                    "datasources.default.connection-init-sql",
                    "SELECT set_config('synchronous_commit', 'on', false)"
                        + " WHERE current_setting('synchronous_commit') = 'off'"),
                Map.entry(
                    "datasources.default.data-source-properties.ApplicationName", "plant-store"),
                // A server that vanished without a word must not hold callers for ever.
                Map.entry(
                    "datasources.default.data-source-properties.connectTimeout", TIMEOUT_SECONDS),
                Map.entry(
                    "datasources.default.data-source-properties.socketTimeout", TIMEOUT_SECONDS),
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
    String url = required(context, "DATABASE_URL", "database.url");
    if (!url.startsWith("jdbc:postgresql:")) {
      throw new ConfigurationException(
          "DATABASE_URL must be a JDBC address of PostgreSQL, such as"
              + " jdbc:postgresql://localhost:5432/plants");
    }
    Properties account = new Properties();
    account.setProperty("user", required(context, "DATABASE_USERNAME", "database.username"));
    account.setProperty("password", required(context, "DATABASE_PASSWORD", "database.password"));
    account.setProperty("connectTimeout", TIMEOUT_SECONDS);
    account.setProperty("socketTimeout", TIMEOUT_SECONDS);
    requireServerThatKeepsPlants(url, account);
  }

  private static String required(ApplicationContext context, String variable, String property) {
    return context
        .getProperty(property, String.class)
        .filter(value -> !value.isEmpty())
        .orElseThrow(() ->
            new ConfigurationException(
                "DATABASE_URL, DATABASE_USERNAME and DATABASE_PASSWORD must be set, but "
                    + variable
                    + " is not"));
  }

  private static void requireServerThatKeepsPlants(String url, Properties account) {
    try (Connection connection = DriverManager.getConnection(url, account);
        Statement statement = connection.createStatement()) {
      int version = connection.getMetaData().getDatabaseMajorVersion();
      if (version < OLDEST_SERVER) {
        throw new ConfigurationException(
            "the database must be PostgreSQL " + OLDEST_SERVER + " or later, but is " + version);
      }
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
}
