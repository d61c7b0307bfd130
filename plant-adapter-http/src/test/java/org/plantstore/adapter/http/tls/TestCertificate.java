package org.plantstore.adapter.http.tls;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;

/** Certificates of this machine, which clients trust. */
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

  /** Returns the settings of a service that has a certificate of its own. */
  public static Map<String, String> settings() {
    X509Bundle files = issue(builder());
    return assertDoesNotThrow(() ->
        Map.of(
            "tls.certificate", files.toTempCertChainPem().toString(),
            "tls.key", files.toTempPrivateKeyPem().toString()));
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

  /** Returns the folder, which is made if it is not there. */
  static Path write(X509Bundle certificate, Path folder) {
    return assertDoesNotThrow(() -> {
      Files.createDirectories(folder);
      Files.writeString(folder.resolve("tls.crt"), certificate.getCertificatePathPEM());
      Files.writeString(folder.resolve("tls.key"), certificate.getPrivateKeyPEM());
      return folder;
    });
  }
}
