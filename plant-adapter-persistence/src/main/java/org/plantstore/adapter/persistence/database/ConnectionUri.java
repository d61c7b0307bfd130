package org.plantstore.adapter.persistence.database;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.micronaut.context.exceptions.ConfigurationException;
import java.net.URLDecoder;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An address and the account in it, as hosts of applications set them: {@code
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
          "postgres(?:ql)?://(?:([^:@/?]*)(?::([^@/?]*))?@)?([^@/?]*)(/[^@/?]*)?(\\?[^@?]*)?");

  /** Reads an address; one of another form, such as JDBC's, has no account. */
  static ConnectionUri of(String url) {
    if (!url.matches("(?s)postgres(ql)?://.*")) {
      return new ConnectionUri(url, "", "");
    }
    Matcher parts = FORM.matcher(url);
    try {
      if (parts.matches()) {
        // The driver would read a plus sign as a space, and has a name of its own for a parameter.
        String rest = Objects.toString(parts.group(4), "/") + Objects.toString(parts.group(5), "");
        String address =
            (parts.group(3) + rest)
                .replace("+", "%2B")
                .replace("channel_binding=", "channelBinding=");
        return new ConnectionUri(
            "jdbc:postgresql://" + address, decoded(parts.group(1)), decoded(parts.group(2)));
      }
    } catch (IllegalArgumentException e) {
      // The message would quote the password.
    }
    throw new ConfigurationException(
        "DATABASE_URL must be such as postgres://user:password@host:5432/name; in the password, @ is"
            + " %40, / is %2F, ? is %3F and % is %25");
  }

  private static String decoded(@Nullable String text) {
    String decoded = text == null ? "" : URLDecoder.decode(text.replace("+", "%2B"), UTF_8);
    if (decoded.contains("\uFFFD")) {
      throw new IllegalArgumentException("it is not UTF-8");
    }
    return decoded;
  }
}
