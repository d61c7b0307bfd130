package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.micronaut.context.exceptions.ConfigurationException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.Objects;
import java.util.concurrent.CompletionException;

/**
 * Checks the identity provider and a token for the {@code check} command. Immutable.
 *
 * @param settings the settings to use
 */
public record TokenCheck(TokenSettings settings) {

  /** Returns whether JWT_JWKS_URL is set. */
  public boolean hasProvider() {
    return settings.keySet() != null;
  }

  /**
   * Reads the key set. Returns the number of usable keys, followed by a description of each
   * unusable key.
   *
   * @throws ConfigurationException if the key set cannot be read, or contains no usable key
   */
  public String provider() {
    URI provider = settings.provider();
    KeySet keys =
        provider == null
            ? settings.readKeySet()
            : new KeySetClient(provider, KeySetClient.TIMEOUT).fetch();
    return keys.toString();
  }

  /**
   * Validates the token on the first line of the input, and returns the token's expiration time.
   *
   * @throws ConfigurationException if the token is invalid, or if the key set is unavailable. The
   *     message quotes no part of the token except the invalid header member or claim.
   * @throws UncheckedIOException if the input cannot be read
   */
  public String token(InputStream input) {
    try {
      String line = new BufferedReader(new InputStreamReader(input, UTF_8)).readLine();
      return new TokenValidation(settings, new TokenKeys(settings))
          .validate(Objects.requireNonNullElse(line, "").strip())
          .thenApply(token -> {
            settings.requiredClaims().forEach(claim -> claim.require(token.claims()));
            return "valid until " + token.expires();
          })
          .join();
    } catch (CompletionException e) {
      String reason =
          e.getCause() instanceof InvalidTokenException invalid
              ? invalid.details()
              : String.valueOf(Objects.requireNonNull(e.getCause()).getMessage());
      throw new ConfigurationException(KeySet.printable(reason));
    } catch (IOException e) {
      throw new UncheckedIOException("standard input cannot be read", e);
    }
  }
}
