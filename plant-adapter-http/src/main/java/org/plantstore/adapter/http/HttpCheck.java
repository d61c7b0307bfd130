package org.plantstore.adapter.http;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.env.Environment;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;
import java.util.spi.ToolProvider;
import org.plantstore.adapter.http.tls.TlsCertificate;
import org.plantstore.adapter.http.tls.TlsFiles;
import org.plantstore.adapter.http.token.TokenCheck;
import org.plantstore.adapter.http.token.TokenSettings;

/**
 * The part of the command {@code check} that is about requests: their limits, the certificate, and
 * the tokens. A service finds it as a {@link ToolProvider}.
 */
public final class HttpCheck implements ToolProvider {

  @Override
  public String name() {
    return "check";
  }

  /**
   * Writes a line for each finding: to {@code out} if it is as it should be, and otherwise to
   * {@code err}, with what to do.
   *
   * @param arguments settings, and {@code --token} to check the token on standard input, which is
   *     not written anywhere
   * @return 0 if all is as it should be, and otherwise 1
   */
  @Override
  public int run(PrintWriter out, PrintWriter err, String... arguments) {
    try (ApplicationContext context = ApplicationContext.builder().args(arguments).build()) {
      Environment settings = context.getEnvironment().start();
      boolean isUsable = report(out, err, "limits", () -> limits(settings));
      isUsable &= report(out, err, "certificate", () -> certificate(settings));
      TokenCheck tokens = new TokenCheck(TokenSettings.of(settings));
      out.println("tokens: " + tokens.settings());
      if (tokens.hasProvider()) {
        isUsable &= report(out, err, "provider", tokens::provider);
      }
      if (List.of(arguments).contains("--token")) {
        isUsable &= report(out, err, "token", () -> tokens.token(System.in));
      }
      return isUsable ? 0 : 1;
    } catch (ConfigurationException e) {
      err.println("tokens: " + e.getMessage());
      return 1;
    }
  }

  private static boolean report(
      PrintWriter out, PrintWriter err, String subject, Supplier<String> finding) {
    try {
      out.println(subject + ": " + finding.get());
      return true;
    } catch (ConfigurationException e) {
      err.println(subject + ": " + e.getMessage());
      return false;
    }
  }

  private static String limits(Environment settings) {
    HttpSettings.requireLimits(settings);
    return "the settings can work";
  }

  private static String certificate(Environment settings) {
    return TlsFiles.of(settings)
        .map(TlsFiles::read)
        .map(HttpCheck::describe)
        .orElse("none, so TLS must end in front of the service");
  }

  private static String describe(TlsCertificate certificate) {
    long days = Duration.between(Instant.now(), certificate.expiry()).toDays();
    return "for " + certificate + ", which is in " + days + " days";
  }
}
