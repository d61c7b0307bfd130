package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.micronaut.context.exceptions.ConfigurationException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.concurrent.CompletionException;

/** The requirements on the identity provider and on a token, for the command {@code check}. */
public record TokenRequirements(TokenSettings settings) {

  /** Returns whether there is a provider, of which {@link #provider} reports. */
  public boolean haveProvider() {
    return settings.keySet() != null && settings.keySetFile() == null;
  }

  /**
   * Returns how many published keys are usable, and how many are left out.
   *
   * @throws ConfigurationException if none is usable
   */
  public String provider() {
    try {
      return new ProviderKeySet(Objects.requireNonNull(settings.keySet())).fetch().toString();
    } catch (IOException e) {
      throw new ConfigurationException(
          "the key set at JWT_JWKS_URL cannot be fetched: " + e.getMessage());
    }
  }

  /**
   * Returns the expiry of the token on the first line of this input.
   *
   * @throws ConfigurationException if the token is invalid, or the key set is unavailable; the
   *     message quotes at most the token's type
   */
  public String token(InputStream input) {
    TokenValidation validation = new TokenValidation(settings, new TokenKeys(settings));
    try {
      String line = new BufferedReader(new InputStreamReader(input, UTF_8)).readLine();
      String token = Objects.requireNonNullElse(line, "").strip();
      return "valid until "
          + validation
              .validateAsync(token, Runnable::run)
              .thenApply(validation::requireClaims)
              .join()
              .getExpirationTime()
              .toInstant();
    } catch (CompletionException e) {
      String reason =
          e.getCause() instanceof InvalidTokenException invalid
              ? invalid.reason()
              : String.valueOf(Objects.requireNonNull(e.getCause()).getMessage());
      throw new ConfigurationException(
          "the token on standard input cannot be used: " + ProviderKeySet.printable(reason));
    } catch (IOException e) {
      throw new UncheckedIOException("standard input cannot be read", e);
    }
  }
}
