package org.plantstore.adapter.persistence;

import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.exceptions.ConfigurationException;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGProperty;

/** The database settings. This class is thread-safe. */
@Singleton
final class DatabaseSettings {

  /** A role's name and password. The password is null if a client certificate is used. */
  record Credentials(String username, @Nullable String password) {

    /** Returns only the user name, because the password is secret. */
    @Override
    public String toString() {
      return username;
    }
  }

  final DatabaseAddress address;

  /** Whether startup migrates the tables. */
  final boolean migrates;

  /** The maximum number of open connections, at least 5. Used only if Citus is installed. */
  final int connections;

  /** The time within which a call must complete, at least 1 s. */
  final Duration deadline;

  final Duration statementTimeout;

  /**
   * How long startup waits for the database. If this time is zero, startup waits only while {@link
   * DatabaseConnections#getConnection} retries. A migration can wait longer for locks.
   */
  final Duration startTimeout;

  private final Environment environment;

  DatabaseSettings(Environment environment) {
    this.environment = environment;
    requireSet(
        "DATABASE_URL",
        value("DATABASE_URL"),
        "the database address, such as jdbc:postgresql://host:5432/name");
    address = DatabaseAddress.of(value("DATABASE_URL"));
    Credentials credentials = credentials();
    requireSet(
        "DATABASE_USERNAME",
        credentials.username,
        "the name of a role, or set DATABASE_USERNAME_FILE, or add the role to DATABASE_URL");
    if (credentials.password == null) {
      requireSet(
          "DATABASE_PASSWORD",
          address.value(PGProperty.SSL_CERT) + address.value(PGProperty.SSL_KEY),
          "the role's password, or set DATABASE_PASSWORD_FILE, or add sslcert and sslkey to"
              + " DATABASE_URL");
    }
    deadline = Duration.ofSeconds(number("DATABASE_TIMEOUT_SECONDS", 5, 1, 60));
    statementTimeout = deadline.multipliedBy(4).dividedBy(5);
    startTimeout = Duration.ofSeconds(number("DATABASE_START_TIMEOUT_SECONDS", 60, 0, 3_600));
    connections = number("DATABASE_CONNECTIONS", 36, PostgresPlantStore.WRITERS + 1, 10_000);
    String migrate = value("DATABASE_MIGRATE");
    if (!Set.of("", "on", "off").contains(migrate)) {
      throw new ConfigurationException(
          "DATABASE_MIGRATE must be on or off, but is \"" + migrate + '"');
    }
    migrates = !migrate.equals("off");
  }

  /** Returns a warning if the service may stop waiting for a call before the store does. */
  Optional<String> warning() {
    return environment
        .getProperty("create.timeout.seconds", Long.class)
        .filter(timeout -> timeout <= deadline.toSeconds())
        .map(timeout ->
            ("CREATE_TIMEOUT_SECONDS is " + timeout + ", but should be greater than ")
                + ("DATABASE_TIMEOUT_SECONDS, which is " + deadline.toSeconds() + "; otherwise,")
                + " the service may respond with an error even though the plant has been stored");
  }

  Credentials credentials() {
    String password = text("DATABASE_PASSWORD", PGProperty.PASSWORD);
    return new Credentials(
        text("DATABASE_USERNAME", PGProperty.USER), password.isEmpty() ? null : password);
  }

  private String text(String variable, PGProperty fallback) {
    String text = value(variable);
    String file = value(variable + "_FILE");
    if (!text.isEmpty() && !file.isEmpty()) {
      throw new ConfigurationException(
          "only one of " + variable + " and " + variable + "_FILE may be set, but both are");
    }
    if (!file.isEmpty()) {
      return contentOf(variable + "_FILE", file);
    }
    return text.isEmpty() ? address.value(fallback) : text;
  }

  /** Returns the contents of a file without the final line break, which editors often add. */
  private static String contentOf(String variable, String file) {
    String reason = "it does not exist, or is not a regular file";
    try {
      if (Files.isRegularFile(Path.of(file))) { // because reading a pipe could block
        String text = Files.readString(Path.of(file)).replaceFirst("\n\\z", "");
        if (!text.isEmpty() && !text.endsWith("\r")) {
          return text;
        }
        reason = text.isEmpty() ? "it is empty" : "it ends with a carriage return";
      }
    } catch (CharacterCodingException e) {
      reason = "it is not UTF-8";
    } catch (IOException e) {
      reason = e.getClass().getSimpleName();
    }
    throw new ConfigurationException(
        (variable + " must name a file that contains text, but \"" + file)
            + ("\" cannot be used: " + reason));
  }

  /**
   * Returns the value of a variable, or an empty string if the variable is not set. Reads the
   * property sources directly, because the framework would resolve placeholders in a password.
   */
  private String value(String variable) {
    String property = variable.toLowerCase(Locale.ROOT).replace('_', '.');
    return environment.getPropertySources().stream()
        .sorted(Comparator.comparingInt(PropertySource::getOrder).reversed())
        .flatMap(source -> Stream.of(property, variable).map(source::get))
        .filter(Objects::nonNull)
        .map(String::valueOf)
        .findFirst()
        .orElse("");
  }

  private static void requireSet(String variable, String value, String demand) {
    if (value.isEmpty()) {
      throw new ConfigurationException(variable + " is not set, or is empty; set it to " + demand);
    }
  }

  private int number(String variable, int defaultNumber, int min, int max) {
    String value = value(variable);
    int number = value.matches("[0-9]{1,5}") ? Integer.parseInt(value) : -1;
    if (value.isEmpty()) {
      return defaultNumber;
    }
    if (number < min || number > max) {
      String demand = " must be a whole number from " + min + " to " + max;
      throw new ConfigurationException(variable + demand + ", but is \"" + value + '"');
    }
    return number;
  }
}
