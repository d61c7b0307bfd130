package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.exceptions.ConfigurationException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Comparator;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The settings of tokens: JWT_SECRET or JWT_JWKS_URL, JWT_ISSUER, JWT_AUDIENCE.
 *
 * @param secret the key of HS256, HS384 and HS512; null if {@code keySet} is set
 * @param keySet the address of an identity provider's JSON Web Key Set (RFC 7517); null if {@code
 *     secret} is set
 * @param issuer the required {@code iss}, or null for any
 * @param audience the required element of {@code aud}, or null for any
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record TokenSettings(
    byte @Nullable [] secret,
    @Nullable URI keySet,
    @Nullable String issuer,
    @Nullable String audience) {

  /** RFC 7518, section 3.2: a key of the size of the hash output of HS256, or larger. */
  private static final int MIN_SECRET_BYTES = 32;

  /** Returns the settings; throws ConfigurationException if they are missing or unusable. */
  public static TokenSettings of(Environment environment) {
    String secret = value(environment, "JWT_SECRET", "jwt.secret");
    String keySet = value(environment, "JWT_JWKS_URL", "jwt.jwks-url");
    if ((secret == null) == (keySet == null)) {
      String fault = secret == null ? "none is" : "both are";
      throw new ConfigurationException(
          "one of JWT_SECRET and JWT_JWKS_URL must be set, but " + fault);
    }
    return new TokenSettings(
        secret == null ? null : secretBytes(secret),
        keySet == null ? null : address(keySet),
        value(environment, "JWT_ISSUER", "jwt.issuer"),
        value(environment, "JWT_AUDIENCE", "jwt.audience"));
  }

  /** Returns the kind of key, the issuer and the audience, without the secret. */
  @Override
  public String toString() {
    String key = keySet == null ? "the key in JWT_SECRET" : "a key at JWT_JWKS_URL";
    String issuers = issuer == null ? "any issuer" : "issuer " + issuer;
    String audiences = audience == null ? "any audience" : "audience " + audience;
    return "signed by " + key + "; " + issuers + "; " + audiences;
  }

  /** Reads past the framework, which would replace text like a placeholder in a secret. */
  private static @Nullable String value(Environment environment, String variable, String property) {
    Object value =
        environment.getPropertySources().stream()
            .sorted(Comparator.comparingInt(PropertySource::getOrder).reversed())
            .flatMap(source -> Stream.of(property, variable).map(source::get))
            .filter(Objects::nonNull)
            .findFirst()
            .orElse(null);
    if ("".equals(value)) {
      // More likely a slip than the wish not to check.
      throw new ConfigurationException(variable + " must have a value or not be set, but is empty");
    }
    return value == null ? null : value.toString();
  }

  private static byte[] secretBytes(String secret) {
    byte[] bytes = secret.getBytes(UTF_8);
    if (bytes.length < MIN_SECRET_BYTES) {
      throw new ConfigurationException(
          "JWT_SECRET must have at least " + MIN_SECRET_BYTES + " bytes, but has " + bytes.length);
    }
    return bytes;
  }

  private static URI address(String text) {
    try {
      URI uri = new URI(text);
      boolean isHttp = String.valueOf(uri.getScheme()).matches("(?i)https?");
      if (isHttp && uri.getHost() != null && uri.getUserInfo() == null) {
        return uri;
      }
    } catch (URISyntaxException e) {
      // falls through to the one message
    }
    throw new ConfigurationException(
        "JWT_JWKS_URL must be an absolute http or https URL without a user or a password");
  }
}
