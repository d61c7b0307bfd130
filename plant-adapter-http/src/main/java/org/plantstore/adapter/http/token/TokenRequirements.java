package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.proc.BadJOSEException;
import io.micronaut.context.env.Environment;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.text.ParseException;
import java.util.Objects;
import java.util.concurrent.ForkJoinPool;
import org.plantstore.adapter.http.token.ProviderKeySet.Fetched;

/** The requirements on the identity provider and on a token, for the command {@code check}. */
public record TokenRequirements(TokenSettings settings) {

  /** Returns the requirements; throws ConfigurationException if the settings cannot work. */
  public static TokenRequirements of(Environment environment) {
    return new TokenRequirements(TokenSettings.of(environment));
  }

  /**
   * Returns the numbers of usable and other keys that the provider publishes.
   *
   * @throws ConfigurationException if the provider publishes no key set, or no usable key
   */
  public String provider() {
    try {
      Fetched fetched = new ProviderKeySet(Objects.requireNonNull(settings.keySet())).fetch();
      if (fetched.usable().isEmpty()) {
        throw new ConfigurationException(
            "the key set at JWT_JWKS_URL must have a key that can be used, but of its %d keys none can"
                .formatted(fetched.leftOut()));
      }
      return "%d usable keys, %d left out".formatted(fetched.usable().size(), fetched.leftOut());
    } catch (IOException | ParseException e) {
      throw new ConfigurationException(
          "the key set at JWT_JWKS_URL cannot be fetched; check the address, the network and the"
              + " provider: "
              + ProviderKeySet.reason(e));
    }
  }

  /**
   * Returns the expiry of the token on the first line of this input.
   *
   * @throws ConfigurationException if the token is not valid, or the key set cannot be fetched; the
   *     message has no part of the token
   */
  public String token(InputStream input) {
    try {
      String line = new BufferedReader(new InputStreamReader(input, UTF_8)).readLine();
      return "valid until "
          + new TokenValidation(settings, ForkJoinPool.commonPool())
              .validClaims(Objects.requireNonNullElse(line, "").strip())
              .getExpirationTime()
              .toInstant();
    } catch (KeySourceException e) {
      throw new ConfigurationException(
          "the one on standard input cannot be checked without the key set at JWT_JWKS_URL");
    } catch (IOException | BadJOSEException | JOSEException e) {
      throw new ConfigurationException(
          "the one on standard input is not valid here; obtain a new one: "
              + ProviderKeySet.reason(e));
    }
  }
}
