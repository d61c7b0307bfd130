package org.plantstore.adapter.http.token;

import com.nimbusds.jwt.JWTClaimsSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A claim that a token must have, such as {@code scope=plants.write}.
 *
 * @param value a text without spaces
 */
record RequiredClaim(String name, String value) {

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
