package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jwt.JWTClaimsSet;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.util.Objects;
import java.util.concurrent.ForkJoinPool;
import org.plantstore.adapter.http.error.RefusedException;

/** The requirements on the identity provider and on a token, for the command {@code check}. */
public record TokenRequirements(TokenSettings settings) {

  /**
   * Returns how many published keys are usable, and which are left out.
   *
   * @throws ConfigurationException if none is usable
   */
  public String provider() {
    return new ProviderKeySet(Objects.requireNonNull(settings.keySet())).require().toString();
  }

  /**
   * Returns the expiry of the token on the first line of this input.
   *
   * @throws ConfigurationException if the token is invalid, or the key set is unavailable; the
   *     message quotes at most the token's type
   */
  public String token(InputStream input) {
    try {
      String line = new BufferedReader(new InputStreamReader(input, UTF_8)).readLine();
      String token = Objects.requireNonNullElse(line, "").strip();
      TokenValidation validation = new TokenValidation(settings, new TokenKeys(settings));
      validation.searchKey(token, ForkJoinPool.commonPool()).join();
      JWTClaimsSet claims = validation.validClaims(token);
      validation.requireClaims(claims);
      return "valid until " + claims.getExpirationTime().toInstant();
    } catch (KeySourceException e) {
      throw new ConfigurationException(
          "the token on standard input cannot be checked: the key set at JWT_JWKS_URL is"
              + " unavailable");
    } catch (IOException | BadJOSEException | JOSEException | RefusedException e) {
      String reason = ForeignText.printable(String.valueOf(e.getMessage()), 200);
      throw new ConfigurationException(
          "the token on standard input is invalid; obtain a new token: " + reason);
    }
  }
}
