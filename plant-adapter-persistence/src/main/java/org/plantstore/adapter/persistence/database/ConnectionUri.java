package org.plantstore.adapter.persistence.database;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;

import io.micronaut.context.exceptions.ConfigurationException;
import java.net.URLDecoder;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGProperty;

/**
 * An address as libpq takes it, with an account, which hosts of applications set: {@code
 * postgres://user:password@host:5432/name?sslmode=require} (PostgreSQL documentation, section
 * 34.1.1.2).
 *
 * @param jdbcUrl the address for the driver, without the account
 * @param username empty if the address has none
 * @param password empty if the address has none
 */
record ConnectionUri(String jdbcUrl, String username, String password) {

  private static final Pattern FORM =
      Pattern.compile(
          "postgres(?:ql)?://(?:([^:@/?]*)(?::([^@/?]*))?@)?([^@/?]*(?:/[^@/?]*)?)(?:\\?([^@?]*))?");

  static boolean isMeantBy(String url) {
    return url.startsWith("postgres://") || url.startsWith("postgresql://");
  }

  static ConnectionUri parse(String url) {
    Matcher parts = FORM.matcher(url);
    try {
      if (parts.matches()) {
        String parameters =
            parts.group(4) == null
                ? ""
                : Stream.of(parts.group(4).split("&"))
                    .map(ConnectionUri::forDriver)
                    .collect(joining("&", "?", ""));
        // The driver would read a plus sign as a space.
        String jdbcUrl = ("jdbc:postgresql://" + parts.group(3) + parameters).replace("+", "%2B");
        return new ConnectionUri(jdbcUrl, decoded(parts.group(1)), decoded(parts.group(2)));
      }
    } catch (IllegalArgumentException e) {
      // The message would quote the password.
    }
    throw new ConfigurationException(
        "DATABASE_URL must be such as postgres://user:password@host:5432/name; in the password, @ is"
            + " %40, / is %2F, ? is %3F and % is %25");
  }

  /** Returns a parameter of libpq by the driver's name, if it has one. */
  private static String forDriver(String parameter) {
    if (parameter.matches("target_session_attrs=(read-write|primary)")) {
      return "targetServerType=primary";
    }
    String name = parameter.replaceFirst("(?s)=.*", "");
    return Stream.of(PGProperty.values())
            .map(PGProperty::getName)
            .filter(known -> known.equalsIgnoreCase(name.replace("_", "")))
            .findFirst()
            .orElse(name)
        + parameter.substring(name.length());
  }

  private static String decoded(@Nullable String text) {
    String decoded = text == null ? "" : URLDecoder.decode(text.replace("+", "%2B"), UTF_8);
    if (decoded.contains("\uFFFD")) {
      throw new IllegalArgumentException("no UTF-8");
    }
    return decoded;
  }
}
