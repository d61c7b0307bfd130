package org.plantstore.adapter.http.token;

import static java.util.stream.Collectors.joining;

import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.exceptions.ConfigurationException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The settings for tokens: the accepted keys, issuers, and audiences, and the required claims.
 * Immutable.
 *
 * @param secrets the secrets for HS256, HS384, and HS512, or none if only a key set is configured
 * @param keySet the address of a JSON Web Key Set (RFC 7517), or null if only secrets are set
 * @param issuers the accepted values of {@code iss}, or an empty list to accept any issuer
 * @param audiences the accepted values of {@code aud}, or an empty list to accept any audience. A
 *     token needs to contain only one of these values.
 * @param requiredClaims the claims that a token must contain
 */
public record TokenSettings(
    SecretKeys secrets,
    @Nullable URI keySet,
    List<String> issuers,
    List<String> audiences,
    List<RequiredClaim> requiredClaims) {

  /**
   * Reads the settings and the files that they name.
   *
   * @throws ConfigurationException if a setting is missing or unusable
   */
  public static TokenSettings of(Environment environment) {
    String secret = value(environment, "JWT_SECRET", "jwt.secret");
    String file = value(environment, "JWT_SECRET_FILE", "jwt.secret-file");
    String keySet = value(environment, "JWT_JWKS_URL", "jwt.jwks-url");
    if (secret == null && file == null && keySet == null) {
      throw new ConfigurationException(
          "JWT_SECRET, JWT_SECRET_FILE, or JWT_JWKS_URL must be set, but none of them is");
    }
    if (secret != null && file != null) {
      throw new ConfigurationException(
          "only one of JWT_SECRET and JWT_SECRET_FILE may be set, but both are");
    }
    SecretKeys secrets = new SecretKeys(null, List.of());
    if (secret != null) {
      secrets = SecretKeys.of(secret);
    } else if (file != null) {
      secrets = SecretKeys.read(Path.of(file));
    }
    return new TokenSettings(
        secrets,
        keySet == null ? null : address(keySet),
        words(environment, "JWT_ISSUER", "jwt.issuer"),
        words(environment, "JWT_AUDIENCE", "jwt.audience"),
        words(environment, "JWT_REQUIRED_CLAIMS", "jwt.required-claims").stream()
            .map(word -> RequiredClaim.of("JWT_REQUIRED_CLAIMS", word))
            .toList());
  }

  /** Returns the names of the variables that supply the keys. */
  public String sources() {
    List<String> sources = new ArrayList<>();
    if (secrets.file() != null) {
      sources.add("JWT_SECRET_FILE (" + secrets + ")");
    } else if (!secrets.keys().isEmpty()) {
      sources.add("JWT_SECRET");
    }
    if (keySet != null) {
      sources.add("JWT_JWKS_URL");
    }
    return String.join(" or ", sources);
  }

  /** Returns a description of the accepted tokens. The description contains no secrets. */
  @Override
  public String toString() {
    return "signed with a key from "
        + sources()
        + (issuers.isEmpty() ? "; any issuer" : "; issuer " + String.join(" or ", issuers))
        + (audiences.isEmpty() ? "; any audience" : "; audience " + String.join(" or ", audiences))
        + requiredClaims.stream().map(claim -> "; " + claim).collect(joining());
  }

  /**
   * Returns the value of a setting exactly as it was specified. The framework's own methods are not
   * used, because a secret may contain text that they would treat as a placeholder.
   */
  private static @Nullable String value(Environment environment, String variable, String property) {
    Object value =
        environment.getPropertySources().stream()
            .sorted(Comparator.comparingInt(PropertySource::getOrder).reversed())
            .flatMap(source -> Stream.of(property, variable).map(source::get))
            .filter(Objects::nonNull)
            .findFirst()
            .orElse(null);
    if ("".equals(value)) {
      // An empty value is more likely to be a mistake than an attempt to disable a check.
      throw new ConfigurationException(variable + " must not be empty; set it or remove it");
    }
    return value == null ? null : value.toString();
  }

  private static List<String> words(Environment environment, String variable, String property) {
    String value = value(environment, variable, property);
    return value == null ? List.of() : List.of(value.strip().split(" +"));
  }

  private static URI address(String text) {
    try {
      URI uri = URI.create(text);
      if (isFile(uri)) {
        KeySet.read(Path.of(uri));
        return uri;
      }
      boolean isHttp = String.valueOf(uri.getScheme()).matches("(?i)https?");
      if (isHttp && uri.getHost() != null && uri.getPort() <= 65_535 && uri.getUserInfo() == null) {
        return uri;
      }
    } catch (IllegalArgumentException e) { // Path.of also throws this exception
      // A malformed address is reported by the exception at the end of this method.
    }
    throw new ConfigurationException(
        "JWT_JWKS_URL must be an absolute http, https, or file URL without a user name, a password,"
            + " a port above 65535, or an underscore in the host name");
  }

  private static boolean isFile(URI address) {
    return "file".equalsIgnoreCase(address.getScheme());
  }

  /** Returns the address of the identity provider, or null if no provider is configured. */
  @Nullable URI provider() {
    return keySet == null || isFile(keySet) ? null : keySet;
  }

  /**
   * Returns the keys in the file that JWT_JWKS_URL names, or an empty key set if JWT_JWKS_URL does
   * not name a file.
   */
  KeySet readKeySet() {
    return keySet != null && isFile(keySet) ? KeySet.read(Path.of(keySet)) : KeySet.EMPTY;
  }
}
