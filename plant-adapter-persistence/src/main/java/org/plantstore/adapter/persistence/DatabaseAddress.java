package org.plantstore.adapter.persistence;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.micronaut.context.exceptions.ConfigurationException;
import java.net.URLDecoder;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.postgresql.Driver;
import org.postgresql.PGProperty;
import org.postgresql.jdbc.SslMode;

/**
 * The address of the database: a JDBC address of PostgreSQL, or one of libpq (PostgreSQL
 * documentation, section 34.1.1.2), each with or without an account. No message quotes it, because
 * it may have a password.
 *
 * @param url the JDBC address without the account
 * @param parameters the driver's parameters, including the account
 */
record DatabaseAddress(String url, Properties parameters) {

  private static final Pattern FORM =
      Pattern.compile(
          "(jdbc:)?postgres(?:ql)?://(?:([^:@/?]*)(?::([^@/?]*))?@)?([^@/?]*)(/[^/?]*)?(\\?[^?]*)?");

  private static final String UNUSABLE =
      "must be such as jdbc:postgresql://host:5432/name or postgres://user:password@host:5432/name;"
          + " in a password, @ is %40, / is %2F, ? is %3F and % is %25";

  /** Reads an address; throws ConfigurationException if the driver cannot use it. */
  static DatabaseAddress of(String address) {
    Matcher form = FORM.matcher(address);
    try {
      if (!form.matches()) {
        return of(address, "", "");
      }
      String rest = Objects.toString(form.group(5), "/") + Objects.toString(form.group(6), "");
      String url = form.group(4) + rest.replace("channel_binding=", "channelBinding=");
      return of(
          // The driver would read a plus sign of libpq's form as a space.
          "jdbc:postgresql://" + (form.group(1) == null ? url.replace("+", "%2B") : url),
          decoded(form.group(2)),
          decoded(form.group(3)));
    } catch (IllegalArgumentException e) {
      throw unusable(UNUSABLE);
    }
  }

  private static DatabaseAddress of(String url, String username, String password) {
    // The driver would read an account that is not encoded as a part of the host.
    boolean hasAccount = url.matches("(?s)[^/]*//[^/?]*@.*");
    Properties parameters = hasAccount ? null : Driver.parseURL(url, null);
    if (parameters == null) {
      throw unusable(UNUSABLE);
    }
    if (!username.isEmpty()) {
      PGProperty.USER.set(parameters, username);
    }
    if (!password.isEmpty()) {
      PGProperty.PASSWORD.set(parameters, password);
    }
    requireKnown(parameters.stringPropertyNames());
    requireTls(parameters);
    return new DatabaseAddress(url, parameters);
  }

  /** The driver ignores other names: a mistyped sslmode would leave a connection unencrypted. */
  private static void requireKnown(Set<String> names) {
    for (String name : names) {
      if (name.toLowerCase(Locale.ROOT).endsWith("timeout")) {
        throw unusable("must not set time-outs; they follow from DATABASE_TIMEOUT_SECONDS");
      }
      if (PGProperty.forName(name) == null) {
        // What looks like a name may be a part of a password.
        boolean isSecret = names.stream().anyMatch(each -> each.matches("(?i).*(pass|pwd).*"));
        String quoted = isSecret || !name.matches("[A-Za-z_]{1,40}") ? "" : ": " + name;
        throw unusable("must not set a parameter that the driver does not know" + quoted);
      }
    }
  }

  private static void requireTls(Properties parameters) {
    try {
      SslMode mode = SslMode.of(parameters);
      if ("system".equals(PGProperty.SSL_ROOT_CERT.getOrDefault(parameters))) {
        if (PGProperty.SSL_MODE.getOrDefault(parameters) != null && !mode.verifyPeerName()) {
          throw unusable("must set sslmode to verify-full if it sets sslrootcert to system");
        }
        if (PGProperty.SSL_CERT.getOrDefault(parameters) != null
            || PGProperty.SSL_KEY.getOrDefault(parameters) != null) {
          throw unusable("must set sslrootcert to a file if it sets sslcert or sslkey");
        }
      }
    } catch (SQLException e) {
      throw unusable("must set sslmode to a mode that the driver knows, such as verify-full");
    }
  }

  private static ConfigurationException unusable(String demand) {
    return new ConfigurationException("DATABASE_URL " + demand);
  }

  private static String decoded(@Nullable String text) {
    String decoded = text == null ? "" : URLDecoder.decode(text.replace("+", "%2B"), UTF_8);
    if (decoded.contains("\uFFFD")) {
      throw new IllegalArgumentException("it is not UTF-8");
    }
    return decoded;
  }

  /** Returns the value of a parameter, or an empty string. */
  String value(PGProperty property) {
    return Objects.toString(property.getOrDefault(parameters), "");
  }

  /** Returns the address without its parameters, which may be secret. */
  @Override
  public String toString() {
    return url.replaceFirst("\\?.*", "");
  }
}
