package org.plantstore.adapter.http.tls;

import io.micronaut.core.io.ResourceResolver;
import io.micronaut.http.HttpVersion;
import io.micronaut.http.ssl.SslBuilder;
import io.micronaut.http.ssl.SslConfiguration;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads private keys with the framework's parser, which knows PKCS#8, PKCS#1 and SEC 1, but not
 * what OpenSSL writes beside a key, such as the parameters of its curve.
 */
final class PemKeyReader extends SslBuilder<KeyStore> {

  private static final Pattern KEY =
      Pattern.compile("(?s)-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----.*?-----END \\1-----");

  PemKeyReader() {
    super(new ResourceResolver());
  }

  /**
   * Returns the first key.
   *
   * @param pem the text of a file
   * @param certificate any, because the framework reads no key without one
   */
  PrivateKey read(String pem, X509Certificate certificate) throws Exception {
    Matcher key = KEY.matcher(pem);
    if (!key.find()) {
      throw new GeneralSecurityException("it has no private key");
    }
    SslConfiguration settings = new SslConfiguration();
    settings.getKeyStore().setKeyPath("string:" + key.group());
    settings
        .getKeyStore()
        .setCertificatePath(
            "string:-----BEGIN CERTIFICATE-----%s-----END CERTIFICATE-----"
                .formatted(Base64.getEncoder().encodeToString(certificate.getEncoded())));
    return (PrivateKey) getKeyStore(settings).orElseThrow().getKey("key", null);
  }

  @Override
  public Optional<KeyStore> build(SslConfiguration settings) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Optional<KeyStore> build(SslConfiguration settings, HttpVersion version) {
    throw new UnsupportedOperationException();
  }
}
