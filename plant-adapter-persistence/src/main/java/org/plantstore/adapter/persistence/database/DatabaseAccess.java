package org.plantstore.adapter.persistence.database;

import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.File;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Properties;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.postgresql.Driver;
import org.postgresql.PGProperty;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.util.PGPropertyUtil;

/** The JDBC address of the database, and the account there. */
public record DatabaseAccess(String url, String username, String password) {

  private static final int CONNECT_SECONDS = 1;
  private static final String ACCOUNT = "(?s)^([^?]*|[^=]*)@";
  private static final String OF_ACCOUNT = "(?i)user(name)?|pass(word|wd)?|pwd";
  private static final String OF_TIMEOUT = "(?i).*timeout";

  /**
   * Reads the settings.
   *
   * @throws ConfigurationException if a setting is missing or unusable
   */
  public static DatabaseAccess of(Environment environment) {
    String url = required(environment, "DATABASE_URL", "database.url");
    List<String> faults = faults(url);
    if (!faults.isEmpty()) {
      throw new ConfigurationException("DATABASE_URL " + String.join("; it also ", faults));
    }
    return new DatabaseAccess(
        url,
        required(environment, "DATABASE_USERNAME", "database.username"),
        required(environment, "DATABASE_PASSWORD", "database.password"));
  }

  /**
   * Returns what is wrong with the address. The driver ignores unknown names and some unknown
   * values, so that a mistyped {@code sslmode} would leave the connection unencrypted.
   */
  private static List<String> faults(String url) {
    // The driver logs what it cannot parse, and messages quote parameters.
    String withoutAccount = url.replaceFirst(ACCOUNT, "jdbc:postgresql://");
    String address = withoutAccount.replaceFirst("(?s)\\?.*", "");
    String parameters = withoutAccount.substring(address.length()).replaceFirst("\\?", "");
    Properties values = Driver.parseURL("jdbc:postgresql:?" + parameters, null);
    String ofHost = address.matches("jdbc:postgresql://[^/].*") ? "host&port&dbname&" : "";
    List<String> names =
        Stream.of((ofHost + parameters).split("&"))
            .map(each -> PGPropertyUtil.translatePGServiceToPGProperty(each.split("=", 2)[0]))
            .toList();
    boolean hasAccount =
        url.matches(ACCOUNT + ".*") || names.stream().anyMatch(name -> name.matches(OF_ACCOUNT));
    List<String> faults = new ArrayList<>();
    if (hasAccount) {
      faults.add("must not contain an account; set DATABASE_USERNAME and DATABASE_PASSWORD");
    }
    if (!url.startsWith("jdbc:") || Driver.parseURL(address, null) == null || values == null) {
      faults.add(
          "must be a JDBC address of PostgreSQL, such as jdbc:postgresql://localhost:5432/plants");
    }
    if (parameters.contains("?")) {
      faults.add("must have one question mark, and an ampersand between its parameters");
    }
    if (names.stream().anyMatch(name -> name.matches(OF_TIMEOUT))) {
      faults.add("must not set time-outs; they follow from DATABASE_TIMEOUT_SECONDS");
    }
    for (String name : new TreeSet<>(names)) {
      PGProperty property = PGProperty.forName(name);
      String value = values == null ? "" : values.getProperty(name, "");
      String taken = property == null || values == null ? "(?s).*" : taken(property, value);
      if (property == null && !name.matches(OF_ACCOUNT + "|" + OF_TIMEOUT + "|")) {
        String told = hasAccount || url.contains("@") ? "an unknown parameter" : '"' + name + '"';
        String near = ", which the driver ignores; the nearest name is " + nearest(name);
        faults.add("must not set " + told + near);
      } else if (Collections.frequency(names, name) > 1) {
        faults.add("must set " + name + " only once");
      } else if (!value.matches(taken)) {
        String choice = taken.replaceFirst("^\\(\\?i\\)\\|?", "").replace("|", " or ");
        faults.add("must set " + name + " to " + choice + ", but sets \"" + value + '"');
      }
    }
    return faults;
  }

  /** Returns a pattern of the accepted values; of all, where the driver refuses others at once. */
  private static String taken(PGProperty property, String value) {
    boolean isBoolean = String.valueOf(property.getDefaultValue()).matches("true|false");
    String[] choices = property.getChoices();
    return switch (property) {
      case SSL -> "(?i)|true|false";
      case SSL_MODE, GSS_ENC_MODE -> "(?i)" + String.join("|", choices);
      case SSL_KEY, SSL_CERT, SSL_ROOT_CERT ->
          value.isEmpty() || new File(value).isFile() ? "(?s).*" : "a file that can be read";
      case PROTOCOL_VERSION, REQUIRE_AUTH -> "(?s).*";
      default ->
          isBoolean ? "(?i)true|false" : choices == null ? "(?s).*" : String.join("|", choices);
    };
  }

  /** Returns the known name with most pairs of letters of this name; of equals, the shortest. */
  private static String nearest(String name) {
    String letters = name.replaceAll("\\W|_", "").toLowerCase(Locale.ROOT);
    String sought = letters.replace("searchpath", "schema");
    return Stream.of(PGProperty.values())
        .map(PGProperty::getName)
        .max(Comparator.comparingLong(known -> 5 * commonPairs(sought, known) - known.length()))
        .orElseThrow();
  }

  private static long commonPairs(String sought, String known) {
    return IntStream.range(1, sought.length())
        .mapToObj(end -> sought.substring(end - 1, end + 1))
        .filter(known.toLowerCase(Locale.ROOT)::contains)
        .count();
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
