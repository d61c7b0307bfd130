package org.plantstore.adapter.persistence.database;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.postgresql.Driver;
import org.postgresql.PGProperty;
import org.postgresql.util.PGPropertyUtil;

/** What is wrong with a JDBC address, in the words of a message. */
final class AddressFaults {

  /** Up to the end of an account. An @ behind hosts and a slash is of the database's name. */
  private static final String ACCOUNT =
      "(?s)^(?!jdbc:postgresql://(?:\\[[^@/?]*]|[^\\[:@/?]|:\\d+(?=[,/]))*/)([^?]*|[^=]*)@";

  private static final String OF_ACCOUNT = "(?i)user(name)?|pass(word|wd)?|pwd";
  private static final String OF_TIMEOUT = "(?i).*timeout";
  private static final List<String> BOOLEANS = List.of("true", "false");

  private AddressFaults() {}

  /**
   * Returns what is wrong with the address. The driver ignores unknown names and some unknown
   * values, so that a mistyped {@code sslmode} would leave the connection unencrypted.
   */
  static List<String> of(String url) {
    // The driver logs what it cannot parse, and messages quote parameters.
    String withoutAccount = url.replaceFirst(ACCOUNT, "jdbc:postgresql://");
    String address = withoutAccount.replaceFirst("(?s)\\?.*", "");
    String parameters = withoutAccount.substring(address.length()).replaceFirst("\\?", "");
    Properties values = Driver.parseURL("jdbc:postgresql:?" + parameters, null);
    Map<String, Long> names =
        Stream.of(parameters.split("&"))
            .map(each -> PGPropertyUtil.translatePGServiceToPGProperty(each.split("=", 2)[0]))
            .filter(name -> !name.isEmpty())
            .collect(groupingBy(name -> name, TreeMap::new, counting()));
    boolean hasAccount = url.matches(ACCOUNT + ".*") || hasName(names, OF_ACCOUNT);
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
    if (address.matches("jdbc:postgresql://[^/].*") && hasName(names, "PG(HOST|PORT|DBNAME)")) {
      faults.add("must set host, port and database before the question mark only");
    }
    if (hasName(names, OF_TIMEOUT)) {
      faults.add("must not set time-outs; they follow from DATABASE_TIMEOUT_SECONDS");
    }
    names.forEach((name, times) -> {
      PGProperty property = PGProperty.forName(name);
      String value = values == null ? "" : values.getProperty(name, "");
      String demand = property == null || values == null ? "" : demand(property, value);
      if (property == null && !name.matches(OF_ACCOUNT + "|" + OF_TIMEOUT)) {
        String told = hasAccount || url.contains("@") ? "an unknown parameter" : '"' + name + '"';
        faults.add("must not set " + told + ", which the driver ignores" + nearest(name));
      } else if (times > 1) {
        faults.add("must set " + name + " only once");
      } else if (!demand.isEmpty()) {
        faults.add("must set " + name + " to " + demand + ", but sets \"" + value + '"');
      }
    });
    return faults;
  }

  private static boolean hasName(Map<String, Long> names, String pattern) {
    return names.keySet().stream().anyMatch(name -> name.matches(pattern));
  }

  /** Returns what the value must be, or an empty string if it is accepted. */
  private static String demand(PGProperty property, String value) {
    boolean isBoolean = String.valueOf(property.getDefaultValue()).matches("true|false");
    List<String> choices = Stream.ofNullable(property.getChoices()).flatMap(Stream::of).toList();
    String lower = value.toLowerCase(Locale.ROOT);
    return switch (property) {
      case SSL -> oneOf(value.isEmpty() ? "true" : lower, BOOLEANS);
      case SSL_MODE, GSS_ENC_MODE -> oneOf(lower, choices);
      case SSL_KEY, SSL_CERT, SSL_ROOT_CERT ->
          value.isEmpty() || new File(value).isFile() ? "" : "a file that can be read";
      case PROTOCOL_VERSION, REQUIRE_AUTH -> ""; // the driver refuses others at once
      default ->
          isBoolean ? oneOf(lower, BOOLEANS) : choices.isEmpty() ? "" : oneOf(value, choices);
    };
  }

  private static String oneOf(String value, List<String> choices) {
    return choices.contains(value) ? "" : String.join(" or ", choices);
  }

  /** Names the driver's parameter that is only written differently, or that stands for libpq's. */
  private static String nearest(String name) {
    String letters =
        name.replaceAll("\\W|_", "")
            .toLowerCase(Locale.ROOT)
            .replace("searchpath", "currentschema")
            .replace("targetsessionattrs", "targetservertype");
    return Stream.of(PGProperty.values())
        .map(PGProperty::getName)
        .filter(letters::equalsIgnoreCase)
        .map(known -> "; the nearest name is " + known)
        .collect(joining());
  }
}
