package org.plantstore.adapter.persistence.database;

import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.exceptions.ConfigurationException;
import java.time.Duration;
import java.util.Comparator;
import java.util.Objects;
import java.util.stream.Stream;
import org.postgresql.Driver;
import org.postgresql.PGProperty;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Where the database is, and the account there: DATABASE_URL, DATABASE_USERNAME, DATABASE_PASSWORD.
 *
 * @param url a JDBC address of PostgreSQL, without an account
 * @param username the account's name
 * @param password the account's password
 */
public record DatabaseAccess(String url, String username, String password) {

  private static final int HOST_SECONDS = 1;

  /**
   * Reads the settings.
   *
   * @throws ConfigurationException if one is missing, or the address is none of PostgreSQL or sets
   *     what is set here
   */
  public static DatabaseAccess of(Environment environment) {
    String url = required(environment, "DATABASE_URL", "database.url");
    if (url.replaceFirst("\\?.*", "").contains("@") || url.matches(".*[?&](user|password)=.*")) {
      throw new ConfigurationException(
          "DATABASE_URL must not contain an account; set DATABASE_USERNAME and DATABASE_PASSWORD");
    }
    if (url.matches(".*[?&][A-Za-z]*Timeout=.*")) {
      throw new ConfigurationException(
          "DATABASE_URL must not set time-outs; they follow from DATABASE_TIMEOUT_SECONDS");
    }
    if (Driver.parseURL(url, null) == null) {
      throw new ConfigurationException(
          "DATABASE_URL must be a JDBC address of PostgreSQL, such as"
              + " jdbc:postgresql://localhost:5432/plants");
    }
    return new DatabaseAccess(
        url,
        required(environment, "DATABASE_USERNAME", "database.username"),
        required(environment, "DATABASE_PASSWORD", "database.password"));
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

  /**
   * Sets up a data source of the driver for this database.
   *
   * @param source the data source
   * @param answer how long a host may take for each of its answers
   * @return the data source
   */
  public <T extends PGSimpleDataSource> T configure(T source, Duration answer) {
    source.setUrl(url);
    source.setUser(username);
    source.setPassword(password);
    source.setApplicationName("plant-store");
    source.setTcpKeepAlive(true);
    source.setConnectTimeout(HOST_SECONDS);
    source.setCancelSignalTimeout(HOST_SECONDS);
    int answerSeconds = Math.toIntExact(answer.toSeconds());
    source.setSocketTimeout(answerSeconds);
    // Each host but the last may keep silent twice: to the question for TLS, and to all else.
    source.setProperty(
        PGProperty.LOGIN_TIMEOUT,
        String.valueOf(answerSeconds * (2 * source.getServerNames().length - 1)));
    // Details quote rows, and a plant's text has no place in a log.
    source.setLogServerErrorDetail(false);
    return source;
  }

  /** Returns everything but the password. */
  @Override
  public String toString() {
    return username + " at " + url;
  }
}
