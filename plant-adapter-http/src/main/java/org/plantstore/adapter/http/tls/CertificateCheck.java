package org.plantstore.adapter.http.tls;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.spi.ToolProvider;

/** The part of the command {@code check} that is about the certificate of the API's port. */
public final class CertificateCheck implements ToolProvider {

  @Override
  public String name() {
    return "check";
  }

  /**
   * Writes a line: to {@code out} if the certificate can be used, or none is wanted, and otherwise
   * to {@code err}, with what to do.
   *
   * @return 0 if the certificate can be used, or none is wanted, and otherwise 1
   */
  @Override
  public int run(PrintWriter out, PrintWriter err, String... arguments) {
    try (ApplicationContext context = ApplicationContext.builder().args(arguments).build()) {
      out.println(
          "certificate: "
              + TlsFiles.of(context.getEnvironment().start())
                  .map(TlsFiles::read)
                  .map(CertificateCheck::describe)
                  .orElse("none, so TLS must end in front of the service"));
      return 0;
    } catch (ConfigurationException e) {
      err.println("certificate: " + e.getMessage());
      return 1;
    }
  }

  private static String describe(TlsCertificate certificate) {
    long days = Duration.between(Instant.now(), certificate.expiry()).toDays();
    return "for " + certificate + ", which is " + days + " days";
  }
}
