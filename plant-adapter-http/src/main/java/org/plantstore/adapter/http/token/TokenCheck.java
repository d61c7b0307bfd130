package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.micronaut.context.exceptions.ConfigurationException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.CompletionException;

/** The requirements on the identity provider and on a token, for the command {@code check}. */
public record TokenCheck(TokenSettings settings) {

  /** Returns whether a key set is configured, so that {@link #provider} can report on it. */
  public boolean hasProvider() {
    return settings.keySet() != null;
  }

  /**
   * Returns how many published keys are usable, and which are left out.
   *
   * @throws ConfigurationException if none is usable
   */
  public String provider() {
    Path file = settings.keySetFile();
    try {
      return file == null
          ? new KeySetClient(Objects.requireNonNull(settings.keySet())).fetch().toString()
          : KeySet.read(file).toString();
    } catch (IOException e) {
      throw new ConfigurationException(
          "the key set at JWT_JWKS_URL cannot be fetched: " + e.getMessage());
    }
  }

  /**
   * Returns the expiry of the token on the first line of this input.
   *
   * @throws ConfigurationException if the token is invalid, or the key set is unavailable; the
   *     message quotes only the member of the token that is at fault
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
              .expires();
    } catch (CompletionException e) {
      String reason =
          e.getCause() instanceof InvalidTokenException invalid
              ? invalid.details()
              : String.valueOf(Objects.requireNonNull(e.getCause()).getMessage());
      throw new ConfigurationException(
          "the token on standard input cannot be used: " + KeySetClient.printable(reason));
    } catch (IOException e) {
      throw new UncheckedIOException("standard input cannot be read", e);
    }
  }
}
