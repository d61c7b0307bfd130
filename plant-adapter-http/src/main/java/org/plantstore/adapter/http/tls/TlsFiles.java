package org.plantstore.adapter.http.tls;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.core.io.ResourceResolver;
import io.micronaut.core.value.PropertyResolver;
import io.micronaut.http.HttpVersion;
import io.micronaut.http.ssl.SslBuilder;
import io.micronaut.http.ssl.SslConfiguration;
import java.io.ByteArrayInputStream;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.KeyStoreException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.renewal.RenewedFiles;

/**
 * The files of TLS_CERTIFICATE and TLS_KEY. Immutable.
 *
 * @param certificate PEM of the certificate of this service, then of its intermediate certificates
 * @param key PEM of its private key
 */
public record TlsFiles(Path certificate, Path key) {

  private static final String CERTIFICATE = "TLS_CERTIFICATE";
  private static final String KEY = "TLS_KEY";
  private static final Pattern PRIVATE_KEY =
      Pattern.compile("(?s)-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----.*?-----END \\1-----");

  /**
   * Returns the files, or nothing if TLS is off.
   *
   * @throws ConfigurationException if one of the two settings is missing or empty
   */
  public static Optional<TlsFiles> of(PropertyResolver settings) {
    String certificate = value(settings, CERTIFICATE, "tls.certificate");
    String key = value(settings, KEY, "tls.key");
    if ((certificate == null) != (key == null)) {
      String missing = key == null ? KEY : CERTIFICATE;
      throw new ConfigurationException(
          "TLS_CERTIFICATE and TLS_KEY must both be set or neither, but " + missing + " is not");
    }
    return certificate == null || key == null
        ? Optional.empty()
        : Optional.of(new TlsFiles(Path.of(certificate), Path.of(key)));
  }

  private static @Nullable String value(
      PropertyResolver settings, String variable, String property) {
    String value = settings.getProperty(property, String.class).orElse(null);
    if ("".equals(value)) {
      // An empty value is more likely a mistake than a request to turn TLS off.
      throw new ConfigurationException(variable + " must have a value or not be set, but is empty");
    }
    return value;
  }

  /**
   * Returns the host names, the addresses and the expiry of the certificate.
   *
   * @throws ConfigurationException if a file cannot be read, the certificate is not valid now, its
   *     chain has another order, or the key does not match
   */
  public String finding() {
    return read(null).toString();
  }

  /** Reads the files; returns the known certificate if they are unchanged. */
  TlsCertificate read(@Nullable TlsCertificate known) {
    String certificates = RenewedFiles.text(CERTIFICATE, certificate);
    String keys = RenewedFiles.text(KEY, key);
    String source = certificates + keys;
    if (known != null && known.source().equals(source)) {
      requireValid(known.own());
      return known;
    }
    List<X509Certificate> chain = chain(certificates);
    X509Certificate own = chain.get(0);
    requireValid(own);
    KeyStore keyStore = keyStore(keys, chain);
    requireMatch(own, keyStore);
    return new TlsCertificate(own, keyStore, source);
  }

  private List<X509Certificate> chain(String pem) {
    try {
      List<X509Certificate> chain =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(pem.getBytes(ISO_8859_1)))
              .stream()
              .map(X509Certificate.class::cast)
              .toList();
      if (chain.isEmpty()) {
        throw new CertificateException("it is empty");
      }
      return chain;
    } catch (CertificateException e) {
      String fault = certificate + " cannot be read: " + e.getMessage();
      throw new ConfigurationException(
          "TLS_CERTIFICATE must be a PEM file of certificates, but " + fault);
    }
  }

  private void requireValid(X509Certificate own) {
    try {
      own.checkValidity();
    } catch (CertificateException e) {
      Instant start = own.getNotBefore().toInstant();
      Instant end = own.getNotAfter().toInstant();
      String fault = certificate + " is from " + start + " to " + end;
      throw new ConfigurationException("TLS_CERTIFICATE must be valid now, but " + fault);
    }
  }

  private KeyStore keyStore(String pem, List<X509Certificate> chain) {
    // OpenSSL may write more than the key, such as the parameters of its curve.
    Matcher privateKey = PRIVATE_KEY.matcher(pem);
    try {
      if (!privateKey.find()) {
        throw new GeneralSecurityException("it has no private key");
      }
      return new PemReader().read(privateKey.group(), chain);
    } catch (KeyStoreException e) {
      String demand = "TLS_CERTIFICATE must list each certificate before its issuer's certificate";
      throw new ConfigurationException(demand + "; the order in " + certificate + " differs");
    } catch (Exception e) {
      String demand = "a PEM file of a private key without a password, in PKCS#8, PKCS#1 or SEC 1";
      throw new ConfigurationException(
          "TLS_KEY must be " + demand + ", but " + key + " cannot be read: " + e.getMessage());
    }
  }

  private void requireMatch(X509Certificate own, KeyStore keyStore) {
    try {
      PrivateKey privateKey = (PrivateKey) keyStore.getKey("key", null);
      String algorithm =
          switch (privateKey.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            default -> privateKey.getAlgorithm();
          };
      Signature signature = Signature.getInstance(algorithm);
      byte[] sample = {1}; // Java 17 cannot verify an empty message with Ed25519
      signature.initSign(privateKey);
      signature.update(sample);
      byte[] signed = signature.sign();
      signature.initVerify(own.getPublicKey());
      signature.update(sample);
      if (signature.verify(signed)) {
        return;
      }
    } catch (GeneralSecurityException e) {
      // The key and the certificate are of different kinds.
    }
    String fault = key + " is not that of " + certificate;
    throw new ConfigurationException(
        "TLS_KEY must be the key of the first certificate in TLS_CERTIFICATE, but " + fault);
  }

  /** The framework's reader of PEM, which reads a key only with a certificate. */
  private static final class PemReader extends SslBuilder<KeyStore> {

    PemReader() {
      super(new ResourceResolver());
    }

    KeyStore read(String key, List<X509Certificate> chain) throws Exception {
      StringBuilder pem = new StringBuilder("string:").append(key);
      for (X509Certificate certificate : chain) {
        pem.append("-----BEGIN CERTIFICATE-----")
            .append(Base64.getEncoder().encodeToString(certificate.getEncoded()))
            .append("-----END CERTIFICATE-----");
      }
      SslConfiguration settings = new SslConfiguration();
      settings.getKeyStore().setPath(pem.toString());
      return getKeyStore(settings).orElseThrow();
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
}
