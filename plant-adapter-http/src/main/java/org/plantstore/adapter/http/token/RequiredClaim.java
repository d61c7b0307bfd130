package org.plantstore.adapter.http.token;

import com.nimbusds.jwt.JWTClaimsSet;
import io.micronaut.context.exceptions.ConfigurationException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A claim that a token must have, such as {@code scope=plants.write}.
 *
 * @param value a text without spaces
 */
record RequiredClaim(String name, String value) {

  /** Reads {@code name=value}; throws ConfigurationException, which names the setting. */
  static RequiredClaim of(String setting, String text) {
    String[] nameAndValue = text.split("=", 2);
    if (nameAndValue.length < 2 || nameAndValue[0].isEmpty() || nameAndValue[1].isEmpty()) {
      throw new ConfigurationException(
          setting + " must have claims such as scope=plants.write, but has \"" + text + '"');
    }
    if (nameAndValue[0].matches("exp|nbf|iat")) {
      throw new ConfigurationException(setting + " must not have " + text + ", which is a date");
    }
    return new RequiredClaim(nameAndValue[0], nameAndValue[1]);
  }

  /**
   * Returns whether the claim of a token has the value: as its text, as an element of its array, or
   * as a word of its text, such as in {@code scope} (RFC 8693, section 4.2).
   */
  boolean isMetBy(JWTClaimsSet claims) {
    Object claim = claims.getClaim(name);
    if (claim instanceof List<?> elements) {
      return elements.stream().anyMatch(this::isValue);
    }
    return claim instanceof String words
        ? List.of(words.split(" ")).contains(value)
        : isValue(claim);
  }

  private boolean isValue(@Nullable Object claim) {
    boolean isPlain =
        claim instanceof String || claim instanceof Number || claim instanceof Boolean;
    return isPlain && value.equals(String.valueOf(claim));
  }

  @Override
  public String toString() {
    return name + "=" + value;
  }
}
