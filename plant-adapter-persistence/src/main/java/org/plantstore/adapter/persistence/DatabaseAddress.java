package org.plantstore.adapter.persistence;

import io.micronaut.context.exceptions.ConfigurationException;
import java.util.Locale;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.postgresql.Driver;
import org.postgresql.PGProperty;
import org.postgresql.jdbc.SslMode;

/**
 * The address of the database: a JDBC address of PostgreSQL, or one of libpq (PostgreSQL
 * documentation, section 34.1.1.2), each with or without an account. No message quotes it, because
 * it may have a password.
 *
 * @param url the JDBC address
 * @param parameters the driver's parameters, including the account
 */
record DatabaseAddress(String url, Properties parameters) {

  private static final Pattern FORM =
      Pattern.compile(
          "(jdbc:)?postgres(?:ql)?://(?:([^:@/?]*)(?::([^@/?]*))?@)?([^@/?]*)(/[^/?]*)?(\\?[^?]*)?");

  /** Reads an address; throws ConfigurationException if the driver cannot use it. */
  static DatabaseAddress of(String text) {
    String url = jdbc(text);
    // The driver would read an account that is not encoded as a part of the host.
    boolean hasAccount = url.matches("(?s)[^/]*//[^/?]*@.*");
    Properties parameters = hasAccount ? null : parse(url);
    if (parameters == null || parameters.toString().contains("\uFFFD")) { // not UTF-8
      throw unusable(
          "must be such as jdbc:postgresql://host:5432/name or"
              + " postgres://user:password@host:5432/name; in a password, @ is %40, / is %2F, ? is"
              + " %3F and % is %25");
    }
    DatabaseAddress address = new DatabaseAddress(url, parameters);
    address.requireKnown();
    address.requireTls();
    return address;
  }

  /** Returns the address with the account as parameters, which the driver decodes. */
  private static String jdbc(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      return text;
    }
    String rest = Objects.toString(form.group(5), "/") + Objects.toString(form.group(6), "?");
    String address = "jdbc:postgresql://" + form.group(4) + rest;
    if (form.group(1) == null) {
      // The driver would read a plus sign as a space, and does not know this name.
      address = address.replace("+", "%2B").replace("channel_binding=", "channelBinding=");
    }
    return address + parameter("user", form.group(2)) + parameter("password", form.group(3));
  }

  private static String parameter(String name, @Nullable String value) {
    return value == null ? "" : "&" + name + "=" + value.replace("+", "%2B");
  }

  private static @Nullable Properties parse(String url) {
    try {
      return Driver.parseURL(url, null);
    } catch (IllegalArgumentException e) { // a percent sign without digits
      return null;
    }
  }

  /** The driver ignores other names: a mistyped sslmode would leave a connection unencrypted. */
  private void requireKnown() {
    Set<String> names = parameters.stringPropertyNames();
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

  private void requireTls() {
    String mode = value(PGProperty.SSL_MODE);
    boolean isUnset = mode.isEmpty();
    if (!isUnset && Stream.of(SslMode.VALUES).noneMatch(known -> known.value.equals(mode))) {
      throw unusable("must set sslmode to a mode that the driver knows, such as verify-full");
    }
    if (value(PGProperty.SSL_ROOT_CERT).equals("system")) {
      if (!isUnset && !mode.equals(SslMode.VERIFY_FULL.value)) {
        throw unusable("must set sslmode to verify-full if it sets sslrootcert to system");
      }
      if (!(value(PGProperty.SSL_CERT) + value(PGProperty.SSL_KEY)).isEmpty()) {
        throw unusable("must set sslrootcert to a file if it sets sslcert or sslkey");
      }
    }
  }

  private static ConfigurationException unusable(String demand) {
    return new ConfigurationException("DATABASE_URL " + demand);
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
