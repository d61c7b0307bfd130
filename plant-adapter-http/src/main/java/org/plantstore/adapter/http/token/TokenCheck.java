package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.proc.BadJOSEException;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.URL;
import java.net.http.HttpHeaders;
import java.text.ParseException;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ForkJoinPool;
import java.util.spi.ToolProvider;
import org.plantstore.adapter.http.token.ProviderKeySet.Fetched;

/**
 * The part of the command {@code check} that is about tokens: the settings, the identity provider
 * and, with {@code --token}, the token on standard input, which is not written anywhere.
 */
public final class TokenCheck implements ToolProvider {

  @Override
  public String name() {
    return "check";
  }

  /**
   * Writes a line for each finding: to {@code out} if it is as it should be, and otherwise to
   * {@code err}, with what to do.
   *
   * @return 0 if all is as it should be, and otherwise 1
   */
  @Override
  public int run(PrintWriter out, PrintWriter err, String... arguments) {
    String subject = "tokens";
    try (ApplicationContext context = ApplicationContext.builder().args(arguments).build()) {
      TokenSettings settings = TokenSettings.of(context.getEnvironment().start());
      out.printf(
          "%s: signed with a key of %s, of %s, for %s%n",
          subject,
          settings.keySet() == null ? "JWT_SECRET" : "JWT_JWKS_URL",
          settings.issuer() == null ? "any issuer" : "the issuer " + settings.issuer(),
          settings.audience() == null ? "any audience" : "the audience " + settings.audience());
      if (settings.keySet() != null) {
        subject = "provider";
        out.println(subject + ": " + keySet(settings.keySet()));
      }
      if (List.of(arguments).contains("--token")) {
        subject = "token";
        out.println(subject + ": valid until " + expiration(settings));
      }
      return 0;
    } catch (ConfigurationException e) {
      err.println(subject + ": " + e.getMessage());
      return 1;
    }
  }

  private static String keySet(URL url) {
    try {
      Fetched fetched = new ProviderKeySet(url).fetch();
      if (fetched.usable().isEmpty()) {
        throw new ConfigurationException(
            "the key set at JWT_JWKS_URL must have a key that can be used, but all %d are left out"
                .formatted(fetched.leftOut()));
      }
      return "%d usable keys, %d left out%s"
          .formatted(fetched.usable().size(), fetched.leftOut(), age(fetched.headers()));
    } catch (IOException | ParseException e) {
      throw new ConfigurationException(
          "the key set at JWT_JWKS_URL cannot be fetched; check the address, the network and the"
              + " provider: "
              + ProviderKeySet.line(e.toString()));
    }
  }

  /** Returns how long a cache has kept the key set, and when it changed, as far as that is told. */
  private static String age(HttpHeaders headers) {
    String age =
        headers.firstValue("Age").map(seconds -> "; cached for " + seconds + " s").orElse("");
    String change =
        headers.firstValue("Last-Modified").map(date -> "; last changed " + date).orElse("");
    return ProviderKeySet.line(age + change);
  }

  private static Instant expiration(TokenSettings settings) {
    try {
      String line = new BufferedReader(new InputStreamReader(System.in, UTF_8)).readLine();
      return new TokenValidation(settings, ForkJoinPool.commonPool())
          .validClaims(Objects.requireNonNullElse(line, "").strip())
          .getExpirationTime()
          .toInstant();
    } catch (Exception e) {
      // What a parser says may quote the token.
      boolean isQuotable = e instanceof BadJOSEException || e instanceof KeySourceException;
      throw new ConfigurationException(
          "the one on standard input is not valid here; obtain a new one: "
              + (isQuotable
                  ? ProviderKeySet.line(String.valueOf(e.getMessage()))
                  : "it is no signed JWT"));
    }
  }
}
