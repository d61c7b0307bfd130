package org.plantstore.app;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;

/** A certificate for localhost that a test certificate authority has issued. */
record TestCertificate(X509Bundle files) {

  static TestCertificate issue() throws Exception {
    X509Bundle authority =
        new CertificateBuilder()
            .ecp256()
            .subject("CN=authority")
            .setIsCertificateAuthority(true)
            .buildSelfSigned();
    CertificateBuilder server = new CertificateBuilder().ecp256().subject("CN=server");
    return new TestCertificate(server.addSanDnsName("localhost").buildIssuedBy(authority));
  }

  /** Returns the settings of a service that uses this certificate. */
  Map<String, String> settings() throws Exception {
    return Map.of(
        "TLS_CERTIFICATE", files.toTempCertChainPem().toString(),
        "TLS_KEY", files.toTempPrivateKeyPem().toString());
  }

  /** Returns the TLS context of a client that trusts this certificate. */
  SSLContext clientContext() throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, new TrustManager[] {files.toTrustManager()}, null);
    return context;
  }
}
