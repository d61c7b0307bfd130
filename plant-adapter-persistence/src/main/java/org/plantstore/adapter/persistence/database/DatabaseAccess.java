package org.plantstore.adapter.persistence.database;

import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.exceptions.ConfigurationException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** The JDBC address of the database, and the account there. */
public record DatabaseAccess(String url, String username, String password) {

  private static final int CONNECT_SECONDS = 1;

  /**
   * Reads the settings.
   *
   * @throws ConfigurationException if a setting is missing or unusable
   */
  public static DatabaseAccess of(Environment environment) {
    String url = required(environment, "DATABASE_URL", "database.url");
    List<String> faults = AddressFaults.of(url);
    if (!faults.isEmpty()) {
      throw new ConfigurationException("DATABASE_URL " + String.join("; it also ", faults));
    }
    return new DatabaseAccess(
        url,
        required(environment, "DATABASE_USERNAME", "database.username"),
        required(environment, "DATABASE_PASSWORD", "database.password"));
  }

  /** Bypasses the framework, which would resolve placeholders within a password. */
  private static String required(Environment environment, String variable, String property) {
    String demand = "DATABASE_URL, DATABASE_USERNAME and DATABASE_PASSWORD must be set, but ";
    return environment.getPropertySources().stream()
        .sorted(Comparator.comparingInt(PropertySource::getOrder).reversed())
        .flatMap(source -> Stream.of(property, variable).map(source::get))
        .filter(Objects::nonNull)
        .map(String::valueOf)
        .findFirst()
        .filter(value -> !value.isEmpty())
        .orElseThrow(() -> new ConfigurationException(demand + variable + " is not"));
  }

  /**
   * Returns a data source of the driver.
   *
   * @param socketTimeout the time-out for each answer of a host, in whole seconds
   */
  public DataSource dataSource(Duration socketTimeout) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(url);
    source.setUser(username);
    source.setPassword(password);
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
