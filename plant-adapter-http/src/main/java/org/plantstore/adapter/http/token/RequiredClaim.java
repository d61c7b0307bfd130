package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.micronaut.context.exceptions.ConfigurationException;
import java.net.URLDecoder;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;

/**
 * A claim that a token must contain, such as {@code scope=plants.write}.
 *
 * @param name the name of the claim, or the dot-separated path to a member of a nested object
 * @param values the accepted values, any one of which is sufficient
 */
record RequiredClaim(String name, List<String> values) {

  /**
   * The claims whose value is a list of words separated by spaces (RFC 8693, section 4.2). The
   * entire text of any other claim must match an accepted value. If a single word were enough there
   * too, a caller who can choose a claim's text could gain access by including an accepted word in
   * it.
   */
  private static final Set<String> LISTS_OF_WORDS = Set.of("scope", "scp");

  /** Parses {@code name=value,value}; throws ConfigurationException if the text is malformed. */
  static RequiredClaim of(String setting, String text) {
    Map.Entry<String, String> claim = claim(setting, text);
    try {
      List<String> values =
          Stream.of(claim.getValue().split(",", -1))
              .map(value -> URLDecoder.decode(value.replace("+", "%2B"), UTF_8))
              .toList();
      if (values.stream().noneMatch(value -> value.isEmpty() || value.contains("\uFFFD"))) {
        return new RequiredClaim(claim.getKey(), values);
      }
    } catch (IllegalArgumentException e) {
      // Malformed percent-encoding is reported by the exception at the end of this method.
    }
    throw new ConfigurationException(
        setting
            + " must contain nonempty, percent-encoded values (%20 is a space, %25 is a percent"
            + (" sign), but contains \"" + text + '"'));
  }

  /** Splits {@code name=value}; throws ConfigurationException if either part is missing. */
  static Map.Entry<String, String> claim(String setting, String text) {
    String[] nameAndValue = text.split("=", 2);
    if (nameAndValue.length < 2 || nameAndValue[0].isEmpty() || nameAndValue[1].isEmpty()) {
      throw new ConfigurationException(
          "%s must contain name=value, such as scope=plants.write, but contains \"%s\""
              .formatted(setting, text));
    }
    return Map.entry(nameAndValue[0], nameAndValue[1]);
  }

  /** Returns the value of this claim, or null if the token's claims do not include this claim. */
  @Nullable Object find(Map<?, ?> claims) {
    return find(claims, name);
  }

  /**
   * Throws InvalidTokenException unless a token's claims contain this claim with an accepted value.
   */
  void require(Map<?, ?> claims) {
    Object found = find(claims);
    if (values.stream().noneMatch(value -> isMetBy(found, value))) {
      throw new InvalidTokenException(
          ErrorNumber.MISSING_CLAIM,
          "The bearer token must contain the claim " + this + "; obtain a token with that claim.",
          toString(),
          found);
    }
  }

  private boolean isMetBy(@Nullable Object claim, String value) {
    if (claim instanceof List<?> elements) {
      return elements.stream().anyMatch(element -> isText(element, value));
    }
    if (claim instanceof Map<?, ?> members) {
      Object member = members.get(value);
      return member != null && !member.equals(false);
    }
    return isText(claim, value)
        || (LISTS_OF_WORDS.contains(name)
            && claim instanceof String words
            && List.of(words.split(" ")).contains(value));
  }

  private static boolean isText(@Nullable Object claim, String value) {
    boolean isPlain =
        claim instanceof String || claim instanceof Number || claim instanceof Boolean;
    return isPlain && value.equals(String.valueOf(claim));
  }

  /**
   * Returns the object's member whose name is the entire path or, if there is no such member, the
   * nested member at the path. Returns null if neither exists.
   */
  private static @Nullable Object find(Map<?, ?> object, String path) {
    if (object.containsKey(path)) {
      return object.get(path);
    }
    for (int dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
      if (object.get(path.substring(0, dot)) instanceof Map<?, ?> member) {
        Object found = find(member, path.substring(dot + 1));
        if (found != null) {
          return found;
        }
      }
    }
    return null;
  }

  @Override
  public String toString() {
    return name + "=" + String.join(" or ", values);
  }
}
