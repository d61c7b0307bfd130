package org.plantstore.adapter.http.tls;

import io.micronaut.core.io.ResourceResolver;
import io.micronaut.http.HttpVersion;
import io.micronaut.http.ssl.SslBuilder;
import io.micronaut.http.ssl.SslConfiguration;
import io.micronaut.http.ssl.SslConfigurationException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Builds a key store from a private key in PEM format and the matching certificate chain. */
final class TlsKeyStore extends SslBuilder<KeyStore> {

  /** Matches a PEM private key. The file can also contain other sections, such as EC parameters. */
  private static final Pattern PRIVATE_KEY =
      Pattern.compile(
          "(?s)-----BEGIN ((?:RSA |EC |ENCRYPTED )?PRIVATE KEY)-----.*?-----END \\1-----");

  private TlsKeyStore() {
    super(new ResourceResolver());
  }

  /**
   * Builds a key store that contains the private key from a file, and the certificate chain for
   * that key. The message of each exception is a predicate whose subject is the file, such as
   * {@code contains the private key of another certificate}.
   *
   * @throws GeneralSecurityException if the file contains no key for the certificate
   * @throws SslConfigurationException if the framework cannot parse the key
   */
  static KeyStore of(String file, List<X509Certificate> chain) throws GeneralSecurityException {
    Matcher key = PRIVATE_KEY.matcher(file);
    if (!key.find()) {
      throw new GeneralSecurityException(
          "contains no complete private key in PKCS #8, PKCS #1, or SEC 1 format");
    }
    if (key.group().contains("ENCRYPTED")) { // either in the label or in a PEM header
      throw new GeneralSecurityException(
          "is protected by a password; remove the password with openssl pkey -in FILE -out NEW_FILE");
    }
    SslConfiguration settings = new SslConfiguration();
    settings.getKeyStore().setKeyPath("string:" + key.group());
    settings.getKeyStore().setCertificatePath("string:" + pem(chain));
    KeyStore keyStore = new TlsKeyStore().build(settings).orElseThrow();
    if (!matches(keyStore, chain.get(0))) {
      throw new GeneralSecurityException("contains the private key of another certificate");
    }
    return keyStore;
  }

  private static String pem(List<X509Certificate> chain) throws CertificateEncodingException {
    StringBuilder pem = new StringBuilder();
    for (X509Certificate each : chain) {
      pem.append("-----BEGIN CERTIFICATE-----")
          .append(Base64.getEncoder().encodeToString(each.getEncoded()))
          .append("-----END CERTIFICATE-----");
    }
    return pem.toString();
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
      byte[] sample = {1}; // Java 17 cannot verify an Ed25519 signature of an empty message
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
    try {
      return getKeyStore(settings);
    } catch (Exception e) {
      throw new SslConfigurationException("cannot be read: " + e.getMessage(), e);
    }
  }

  @Override
  public Optional<KeyStore> build(SslConfiguration settings, HttpVersion version) {
    return build(settings);
  }
}
