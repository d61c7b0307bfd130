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
 * The database address, which is a PostgreSQL JDBC URL or a libpq connection URI (section 34.1.1.2
 * of the PostgreSQL documentation). Error messages do not quote the address, because it may contain
 * a password.
 *
 * @param url the JDBC URL
 * @param parameters the driver's parameters, including any credentials
 */
record DatabaseAddress(String url, Properties parameters) {

  private static final Pattern FORM =
      Pattern.compile(
          "(jdbc:)?postgres(?:ql)?://(?:([^:@/?]*)(?::([^@/?]*))?@)?([^@/?]*)(/[^/?]*)?(\\?[^?]*)?");

  static DatabaseAddress of(String text) {
    String url = jdbc(text);
    // The driver would treat unencoded credentials as part of the host name.
    boolean hasCredentials = url.matches("(?s)[^/]*//[^/?]*@.*");
    Properties parameters = hasCredentials ? null : parse(url);
    if (parameters == null || parameters.toString().contains("\uFFFD")) { // not UTF-8
      throw unusable(
          "must have the form jdbc:postgresql://host:5432/name or"
              + " postgres://user:password@host:5432/name; in a password, write @ as %40, / as %2F,"
              + " ? as %3F, and % as %25");
    }
    DatabaseAddress address = new DatabaseAddress(url, parameters);
    address.requireKnown();
    address.requireTls();
    return address;
  }

  /** Returns the JDBC URL. Credentials become query parameters, which the driver decodes. */
  private static String jdbc(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      return text;
    }
    String rest = Objects.toString(form.group(5), "/") + Objects.toString(form.group(6), "?");
    String address = "jdbc:postgresql://" + form.group(4) + rest;
    if (form.group(1) == null) {
      // Unlike libpq, the driver decodes a plus sign as a space, and uses the parameter
      // name channelBinding instead of channel_binding.
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
    } catch (IllegalArgumentException e) { // invalid percent-encoding
      return null;
    }
  }

  /**
   * Rejects parameters that the driver does not recognize. The driver would ignore such a
   * parameter, so a misspelled sslmode could leave connections unencrypted.
   */
  private void requireKnown() {
    Set<String> names = parameters.stringPropertyNames();
    for (String name : names) {
      if (name.toLowerCase(Locale.ROOT).endsWith("timeout")) {
        throw unusable("must not set timeouts; set DATABASE_TIMEOUT_SECONDS instead");
      }
      if (PGProperty.forName(name) == null) {
        // If the URL contains a password, this name may be part of that password.
        boolean isSecret = names.stream().anyMatch(each -> each.matches("(?i).*(pass|pwd).*"));
        boolean isQuotable = !isSecret && name.matches("[A-Za-z_]{1,40}");
        throw unusable(
            "must not contain a parameter that the driver does not recognize"
                + (isQuotable ? ", such as \"" + name + '"' : "")
                + "; correct or remove it");
      }
    }
  }

  private void requireTls() {
    String mode = value(PGProperty.SSL_MODE);
    boolean isUnset = mode.isEmpty();
    if (!isUnset && Stream.of(SslMode.VALUES).noneMatch(known -> known.value.equals(mode))) {
      throw unusable("must set sslmode to a value that the driver recognizes, such as verify-full");
    }
    boolean verifiesFully = isUnset || mode.equals(SslMode.VERIFY_FULL.value);
    boolean hasKey = !(value(PGProperty.SSL_CERT) + value(PGProperty.SSL_KEY)).isEmpty();
    if (value(PGProperty.SSL_ROOT_CERT).equals("system") && (hasKey || !verifiesFully)) {
      throw unusable(
          "must set sslrootcert to a file instead of system if it sets sslcert, sslkey, or an"
              + " sslmode other than verify-full");
    }
  }

  private static ConfigurationException unusable(String demand) {
    return new ConfigurationException("DATABASE_URL " + demand);
  }

  /** Returns the value of a parameter, or an empty string if the parameter is not set. */
  String value(PGProperty property) {
    return Objects.toString(property.getOrDefault(parameters), "");
  }

  /** Returns the URL without its parameters, because they may contain a password. */
  @Override
  public String toString() {
    return url.replaceFirst("\\?.*", "");
  }
}
