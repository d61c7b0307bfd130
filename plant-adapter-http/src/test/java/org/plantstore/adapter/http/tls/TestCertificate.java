package org.plantstore.adapter.http.tls;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;

/** Issues certificates for localhost that the clients of the tests trust. */
public final class TestCertificate {

  static final X509Bundle AUTHORITY =
      assertDoesNotThrow(() ->
          new CertificateBuilder()
              .ecp256()
              .subject("CN=authority")
              .setIsCertificateAuthority(true)
              .buildSelfSigned());

  public static final SSLContext TRUST =
      assertDoesNotThrow(() -> {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {AUTHORITY.toTrustManager()}, null);
        return context;
      });

  private TestCertificate() {}

  /** Returns the settings of a service with a new certificate. */
  public static Map<String, String> settings() {
    return settings(write(issue(), assertDoesNotThrow(() -> Files.createTempDirectory("tls"))));
  }

  static Map<String, String> settings(TlsFiles files) {
    return Map.of(
        "tls.certificate", files.certificate().toString(), "tls.key", files.key().toString());
  }

  static X509Bundle issue() {
    return issue(builder());
  }

  static CertificateBuilder builder() {
    return new CertificateBuilder()
        .ecp256()
        .subject("CN=service")
        .addSanDnsName("localhost")
        .addSanIpAddress("127.0.0.1");
  }

  static X509Bundle issue(CertificateBuilder builder) {
    return assertDoesNotThrow(() -> builder.buildIssuedBy(AUTHORITY));
  }

  static TlsFiles write(X509Bundle certificate, Path folder) {
    TlsFiles files = new TlsFiles(folder.resolve("tls.crt"), folder.resolve("tls.key"));
    assertDoesNotThrow(
        () -> Files.writeString(files.certificate(), certificate.getCertificatePathPEM()));
    assertDoesNotThrow(() -> Files.writeString(files.key(), certificate.getPrivateKeyPEM()));
    return files;
  }
}
