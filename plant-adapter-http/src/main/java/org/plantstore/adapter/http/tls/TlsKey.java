package org.plantstore.adapter.http.tls;

import io.micronaut.core.io.ResourceResolver;
import io.micronaut.http.HttpVersion;
import io.micronaut.http.ssl.SslBuilder;
import io.micronaut.http.ssl.SslConfiguration;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads a private key with the framework's PEM parser. The parser can be called only through a
 * subclass of {@link SslBuilder}, which builds a key store from a key and its certificates.
 */
final class TlsKey extends SslBuilder<KeyStore> {

  /** Matches a PEM private key. OpenSSL may add other sections, such as the curve's parameters. */
  private static final Pattern PRIVATE_KEY =
      Pattern.compile(
          "(?s)-----BEGIN ((?:RSA |EC |ENCRYPTED )?PRIVATE KEY)-----.*?-----END \\1-----");

  private TlsKey() {
    super(new ResourceResolver());
  }

  /** Returns a key store with the key and its chain; throws an exception if the key is unusable. */
  static KeyStore read(String pem, List<X509Certificate> chain) throws Exception {
    Matcher key = PRIVATE_KEY.matcher(pem);
    if (!key.find()) {
      throw new GeneralSecurityException("it contains no private key, or an incomplete one");
    }
    if (key.group().contains("ENCRYPTED")) { // in the label or a PEM header
      throw new GeneralSecurityException(
          "it is protected by a password; remove the password with"
              + " openssl pkey -in FILE -out NEW_FILE");
    }
    StringBuilder all = new StringBuilder("string:").append(key.group());
    for (X509Certificate certificate : chain) {
      all.append("-----BEGIN CERTIFICATE-----")
          .append(Base64.getEncoder().encodeToString(certificate.getEncoded()))
          .append("-----END CERTIFICATE-----");
    }
    SslConfiguration settings = new SslConfiguration();
    settings.getKeyStore().setPath(all.toString());
    KeyStore keyStore = new TlsKey().getKeyStore(settings).orElseThrow();
    if (!matches(keyStore, chain.get(0))) {
      throw new GeneralSecurityException("it contains the private key of another certificate");
    }
    return keyStore;
  }

  /** Returns whether the certificate can verify a signature created with the private key. */
  private static boolean matches(KeyStore keyStore, X509Certificate certificate) {
    try {
      PrivateKey key = (PrivateKey) keyStore.getKey("key", null);
      String algorithm =
          switch (key.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            default -> key.getAlgorithm();
          };
      Signature signature = Signature.getInstance(algorithm);
      byte[] sample = {1}; // Java 17 cannot verify an empty message with Ed25519
      signature.initSign(key);
      signature.update(sample);
      byte[] signed = signature.sign();
      signature.initVerify(certificate.getPublicKey());
      signature.update(sample);
      return signature.verify(signed);
    } catch (GeneralSecurityException e) {
      return false; // the key and the certificate use different algorithms
    }
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
