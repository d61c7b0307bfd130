package org.plantstore.adapter.persistence.database;

import java.io.File;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.postgresql.Driver;
import org.postgresql.PGProperty;
import org.postgresql.util.PGPropertyUtil;

/** What is wrong with a JDBC address, in the words of a message. */
final class AddressFaults {

  /** Up to the end of an account, such as in {@code jdbc:postgresql://user:secret@host/plants}. */
  private static final String ACCOUNT = "(?s)^([^?]*|[^=]*)@";

  private static final String OF_ACCOUNT = "(?i)user(name)?|pass(word|wd)?|pwd";
  private static final String OF_TIMEOUT = "(?i).*timeout";

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
      String accepted = property == null || values == null ? "(?s).*" : accepted(property, value);
      if (property == null && !name.matches(OF_ACCOUNT + "|" + OF_TIMEOUT + "|")) {
        String told = hasAccount || url.contains("@") ? "an unknown parameter" : '"' + name + '"';
        String near = ", which the driver ignores; the nearest name is " + nearest(name);
        faults.add("must not set " + told + near);
      } else if (Collections.frequency(names, name) > 1) {
        faults.add("must set " + name + " only once");
      } else if (!value.matches(accepted)) {
        String choice = accepted.replaceFirst("^\\(\\?i\\)\\|?", "").replace("|", " or ");
        faults.add("must set " + name + " to " + choice + ", but sets \"" + value + '"');
      }
    }
    return faults;
  }

  /** Returns a pattern of the accepted values; of all, where the driver refuses others at once. */
  private static String accepted(PGProperty property, String value) {
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
}
