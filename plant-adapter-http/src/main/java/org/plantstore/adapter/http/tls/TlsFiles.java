package org.plantstore.adapter.http.tls;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.core.value.PropertyResolver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The files that TLS_CERTIFICATE and TLS_KEY name.
 *
 * @param certificate PEM of the certificate of this service, and of those that lead to a trusted
 *     one
 * @param key PEM of its private key
 */
public record TlsFiles(Path certificate, Path key) {

  private static final String CERTIFICATE = "TLS_CERTIFICATE";
  private static final String KEY = "TLS_KEY";
  private static final byte[] SAMPLE = {1};

  /**
   * Returns the files, or nothing if TLS is not wanted.
   *
   * @throws ConfigurationException if one of the two settings is missing or empty
   */
  public static Optional<TlsFiles> of(PropertyResolver settings) {
    String certificate = value(settings, CERTIFICATE, "tls.certificate");
    String key = value(settings, KEY, "tls.key");
    if (certificate != null && key != null) {
      return Optional.of(new TlsFiles(Path.of(certificate), Path.of(key)));
    }
    if (certificate == null && key == null) {
      return Optional.empty();
    }
    throw new ConfigurationException(
        "TLS_CERTIFICATE and TLS_KEY must both be set or neither, but "
            + (key == null ? KEY : CERTIFICATE)
            + " is not");
  }

  private static @Nullable String value(
      PropertyResolver settings, String variable, String property) {
    String value = settings.getProperty(property, String.class).orElse(null);
    if ("".equals(value)) {
      // More likely a slip than the wish not to encrypt.
      throw new ConfigurationException(variable + " must have a value or not be set, but is empty");
    }
    return value;
  }

  /**
   * Reads the files.
   *
   * @throws ConfigurationException if one cannot be read, if the certificate is not valid now, or
   *     if the key is not its own
   */
  public TlsCertificate read() {
    return read(null);
  }

  /** Reads the files; signs only if they have another certificate or key than this one. */
  TlsCertificate read(@Nullable TlsCertificate known) {
    List<X509Certificate> chain = chain(text(CERTIFICATE, certificate));
    requireValid(chain.get(0));
    PrivateKey privateKey = privateKey(text(KEY, key), chain.get(0));
    TlsCertificate found = new TlsCertificate(chain, privateKey);
    if (!found.equals(known)) {
      requireMatch(chain.get(0), privateKey);
    }
    return found;
  }

  private static String text(String variable, Path file) {
    try {
      return Files.readString(file, ISO_8859_1);
    } catch (IOException e) {
      throw new ConfigurationException(
          "%s must be a file that can be read, but %s cannot: %s"
              .formatted(variable, file, e.getClass().getSimpleName()));
    }
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
      throw new ConfigurationException(
          "TLS_CERTIFICATE must be a PEM file of certificates, but %s cannot be read: %s"
              .formatted(certificate, e.getMessage()));
    }
  }

  private void requireValid(X509Certificate own) {
    Instant now = Instant.now();
    Instant start = own.getNotBefore().toInstant();
    Instant end = own.getNotAfter().toInstant();
    if (now.isBefore(start) || now.isAfter(end)) {
      throw new ConfigurationException(
          "TLS_CERTIFICATE must be valid now, but %s is from %s to %s"
              .formatted(certificate, start, end));
    }
  }

  private PrivateKey privateKey(String pem, X509Certificate own) {
    try {
      return new PemKeyReader().read(pem, own);
    } catch (Exception e) {
      throw new ConfigurationException(
          "TLS_KEY must be a PEM file of a private key without a password, in PKCS#8, PKCS#1 or"
              + " SEC 1, but "
              + key
              + " cannot be read: "
              + e.getMessage());
    }
  }

  private void requireMatch(X509Certificate own, PrivateKey privateKey) {
    try {
      Signature signature =
          Signature.getInstance(
              switch (privateKey.getAlgorithm()) {
                case "RSA" -> "SHA256withRSA";
                case "EC" -> "SHA256withECDSA";
                default -> privateKey.getAlgorithm();
              });
      signature.initSign(privateKey);
      signature.update(SAMPLE);
      byte[] signed = signature.sign();
      signature.initVerify(own.getPublicKey());
      signature.update(SAMPLE);
      if (signature.verify(signed)) {
        return;
      }
    } catch (GeneralSecurityException e) {
      // A key of another kind than that of the certificate.
    }
    throw new ConfigurationException(
        "TLS_KEY must be the key of the first certificate in TLS_CERTIFICATE, but "
            + key
            + " is not that of "
            + certificate);
  }
}
