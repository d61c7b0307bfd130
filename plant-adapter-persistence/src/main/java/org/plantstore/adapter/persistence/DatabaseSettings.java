package org.plantstore.adapter.persistence;

import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.exceptions.ConfigurationException;
import jakarta.inject.Singleton;
import java.io.IOException;
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

/** The settings of the database. Safe for use by many threads. */
@Singleton
final class DatabaseSettings {

  /** The name and the password of the account; the password is null if there is none. */
  record Account(String username, @Nullable String password) {

    /** Returns the name. */
    @Override
    public String toString() {
      return username;
    }
  }

  final DatabaseAddress address;

  /** Whether a start creates the tables, or changes them. */
  final boolean migrates;

  /** The most connections that may be open, at least 5. */
  final int connections;

  /** The deadline of a create, at least 1 s. */
  final Duration deadline;

  /** The time-out of a statement. */
  final Duration statementTimeout;

  /** How long a start waits for the database; zero for a single attempt. */
  final Duration startTimeout;

  private final Environment environment;

  /** Reads the settings; throws ConfigurationException if one is missing or unusable. */
  DatabaseSettings(Environment environment) {
    this.environment = environment;
    requireSet("DATABASE_URL", value("DATABASE_URL"));
    address = DatabaseAddress.of(value("DATABASE_URL"));
    Account account = account();
    requireSet("DATABASE_USERNAME", account.username);
    if (account.password == null) {
      String certificate = address.value(PGProperty.SSL_CERT) + address.value(PGProperty.SSL_KEY);
      requireSet("DATABASE_PASSWORD", certificate);
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

  /** Returns a warning if the service stops waiting for a create before the database does. */
  Optional<String> warning() {
    return environment
        .getProperty("create.timeout.seconds", Long.class)
        .filter(timeout -> timeout <= deadline.toSeconds())
        .map(timeout ->
            ("CREATE_TIMEOUT_SECONDS is " + timeout + ", but should be longer than ")
                + ("DATABASE_TIMEOUT_SECONDS, which is " + deadline.toSeconds())
                + "; otherwise creates are given up while the database may still commit them");
  }

  /** Returns the account as it is now; throws ConfigurationException if a file cannot be used. */
  Account account() {
    String password = text("DATABASE_PASSWORD", PGProperty.PASSWORD);
    return new Account(
        text("DATABASE_USERNAME", PGProperty.USER), password.isEmpty() ? null : password);
  }

  private String text(String variable, PGProperty ofAddress) {
    String text = value(variable);
    String file = value(variable + "_FILE");
    if (!text.isEmpty() && !file.isEmpty()) {
      throw new ConfigurationException(
          "one of " + variable + " and " + variable + "_FILE must be set, but both are");
    }
    if (!file.isEmpty()) {
      return contentOf(variable + "_FILE", file);
    }
    return text.isEmpty() ? address.value(ofAddress) : text;
  }

  /** Returns the content without the line break that editors write at its end. */
  private static String contentOf(String variable, String file) {
    String reason = "it is no file";
    try {
      if (Files.isRegularFile(Path.of(file))) { // a pipe could block
        String text = Files.readString(Path.of(file)).replaceFirst("\n\\z", "");
        if (!text.isEmpty() && !text.endsWith("\r")) {
          return text;
        }
        reason = text.isEmpty() ? "it is empty" : "it ends with CARRIAGE RETURN";
      }
    } catch (IOException e) {
      reason = e.getClass().getSimpleName();
    }
    throw new ConfigurationException(
        variable + " must be a file with text, but " + file + " is not: " + reason);
  }

  /** Bypasses the framework, which would resolve placeholders within a password. */
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

  private static void requireSet(String variable, String value) {
    if (value.isEmpty()) {
      throw new ConfigurationException(
          "DATABASE_URL, DATABASE_USERNAME and DATABASE_PASSWORD must be set, but "
              + variable
              + " is not");
    }
  }

  private int number(String variable, int usual, int least, int most) {
    String value = value(variable);
    int number = value.matches("[0-9]{1,5}") ? Integer.parseInt(value) : -1;
    if (value.isEmpty()) {
      return usual;
    }
    if (number < least || number > most) {
      String demand = " must be a whole number from " + least + " to " + most;
      throw new ConfigurationException(variable + demand + ", but is \"" + value + '"');
    }
    return number;
  }
}
