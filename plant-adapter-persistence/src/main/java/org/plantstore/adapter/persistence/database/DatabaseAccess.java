package org.plantstore.adapter.persistence.database;

import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.exceptions.ConfigurationException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** The JDBC address of the database, and the account there. */
public record DatabaseAccess(String url, String username, Password password) {

  private static final int CONNECT_SECONDS = 1;

  /**
   * Reads the settings.
   *
   * @throws ConfigurationException if a setting is missing or unusable
   */
  public static DatabaseAccess of(Environment environment) {
    String address = value(environment, "DATABASE_URL", "database.url", "");
    ConnectionUri uri = ConnectionUri.of(address);
    String username = value(environment, "DATABASE_USERNAME", "database.username", uri.username());
    String file = value(environment, "DATABASE_PASSWORD_FILE", "database.password-file", "");
    String password = value(environment, "DATABASE_PASSWORD", "database.password", "");
    if (!file.isEmpty() && !password.isEmpty()) {
      throw new ConfigurationException(
          "one of DATABASE_PASSWORD and DATABASE_PASSWORD_FILE must be set, but both are");
    }
    password = password.isEmpty() ? uri.password() : password;
    requireSet("DATABASE_URL", address);
    List<String> faults = AddressFaults.of(uri.jdbcUrl());
    if (!faults.isEmpty()) {
      throw new ConfigurationException("DATABASE_URL " + String.join("; it also ", faults));
    }
    requireSet("DATABASE_USERNAME", username);
    requireSet("DATABASE_PASSWORD", file + password);
    return new DatabaseAccess(
        uri.jdbcUrl(),
        username,
        file.isEmpty() ? new Password(password) : new Password(Path.of(file)));
  }

  private static void requireSet(String variable, String value) {
    if (value.isEmpty()) {
      throw new ConfigurationException(
          "DATABASE_URL, DATABASE_USERNAME and DATABASE_PASSWORD must be set, but "
              + variable
              + " is not");
    }
  }

  /** Bypasses the framework, which would resolve placeholders within a password. */
  private static String value(
      Environment environment, String variable, String property, String otherwise) {
    return environment.getPropertySources().stream()
        .sorted(Comparator.comparingInt(PropertySource::getOrder).reversed())
        .flatMap(source -> Stream.of(property, variable).map(source::get))
        .filter(Objects::nonNull)
        .map(String::valueOf)
        .findFirst()
        .filter(value -> !value.isEmpty())
        .orElse(otherwise);
  }

  /**
   * Returns a data source of the driver.
   *
   * @param socketTimeout the time-out for each answer of a host, in whole seconds
   */
  public DataSource dataSource(Duration socketTimeout) {
    PGSimpleDataSource source =
        new PGSimpleDataSource() {
          @Override
          public Connection getConnection() throws SQLException {
            String tried = password.now();
            try {
              return getConnection(username, tried);
            } catch (SQLException e) {
              String changed = password.now();
              if (changed.equals(tried)) {
                throw e;
              }
              return getConnection(username, changed);
            }
          }
        };
    source.setUrl(url);
    source.setApplicationName("plant-store");
    source.setTcpKeepAlive(true);
    source.setConnectTimeout(CONNECT_SECONDS);
    source.setCancelSignalTimeout(CONNECT_SECONDS);
    int seconds = Math.toIntExact(socketTimeout.toSeconds());
    source.setSocketTimeout(seconds);
    // Two time-outs, of TLS and of the login, for each host that fails, and one for the last host.
    source.setLoginTimeout(seconds * (2 * source.getServerNames().length - 1));
    // Details quote rows, and a plant's text must not be logged.
    source.setLogServerErrorDetail(false);
    return source;
  }

  /** Returns the account and the address, without the password. */
  @Override
  public String toString() {
    return username + " at " + url;
  }
}
