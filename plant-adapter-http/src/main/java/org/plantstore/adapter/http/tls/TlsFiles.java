package org.plantstore.adapter.http.tls;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.util.stream.Collectors.joining;

import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.core.value.PropertyResolver;
import io.micronaut.http.ssl.SslConfigurationException;
import java.io.ByteArrayInputStream;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.renewal.RenewedFiles;

/**
 * The files that TLS_CERTIFICATE and TLS_KEY name. Immutable.
 *
 * @param certificate the PEM file that contains the service's certificate and its intermediates
 * @param key the PEM file that contains the private key
 */
public record TlsFiles(Path certificate, Path key) {

  private static final String CERTIFICATE = "TLS_CERTIFICATE";
  private static final String KEY = "TLS_KEY";

  private static final Pattern BEGIN = Pattern.compile("-----BEGIN (?:X509 )?CERTIFICATE-----");

  /** Matches a PEM certificate. The file can also contain other sections, such as a private key. */
  private static final Pattern PART =
      Pattern.compile("(?s)-----BEGIN ((?:X509 )?CERTIFICATE)-----.*?-----END \\1-----");

  /**
   * Returns the files, or an empty {@link Optional} if TLS is disabled.
   *
   * @throws ConfigurationException if only one of TLS_CERTIFICATE and TLS_KEY is set
   */
  public static Optional<TlsFiles> of(PropertyResolver settings) {
    String certificate = settings.getProperty("tls.certificate", String.class).orElse(null);
    String key = settings.getProperty("tls.key", String.class).orElse(null);
    if ((certificate == null) != (key == null)) {
      throw new ConfigurationException(
          "TLS_CERTIFICATE and TLS_KEY must be set together, but %s is not set"
              .formatted(key == null ? KEY : CERTIFICATE));
    }
    return certificate == null || key == null
        ? Optional.empty()
        : Optional.of(new TlsFiles(Path.of(certificate), Path.of(key)));
  }

  /**
   * Reads the files, and returns a summary for operators: the host names and addresses of the
   * certificate, the earliest expiration date in its chain, and the number of unused certificates.
   *
   * @throws ConfigurationException if a file cannot be read, if a certificate in the chain has
   *     expired or is not yet valid, or if the private key does not match the certificate
   */
  public String finding() {
    return read(null).toString();
  }

  /** Returns the certificate in the files, or {@code known} if the files have not changed. */
  TlsCertificate read(@Nullable TlsCertificate known) {
    String certificates = new String(RenewedFiles.bytes(CERTIFICATE, certificate), ISO_8859_1);
    String keys = new String(RenewedFiles.bytes(KEY, key), ISO_8859_1);
    String source = certificates + keys;
    if (known != null && known.source().equals(source)) {
      requireValid(known.chain());
      return known;
    }
    List<X509Certificate> all = certificates(certificates);
    List<X509Certificate> chain = TlsCertificate.chain(all);
    requireValid(chain);
    try {
      KeyStore keyStore = TlsKeyStore.of(keys, chain);
      return new TlsCertificate(chain, all.size() - chain.size(), keyStore, source);
    } catch (GeneralSecurityException | SslConfigurationException e) {
      throw new ConfigurationException(
          "TLS_KEY must name a PEM file with the private key of the first certificate in TLS_CERTIFICATE, but %s %s"
              .formatted(key, e.getMessage()));
    }
  }

  private List<X509Certificate> certificates(String pem) {
    String parts = PART.matcher(pem).results().map(MatchResult::group).collect(joining("\n"));
    try {
      List<X509Certificate> certificates =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(parts.getBytes(ISO_8859_1)))
              .stream()
              .map(X509Certificate.class::cast)
              .toList();
      // A file that is still being written can contain an incomplete certificate.
      if (certificates.isEmpty() || certificates.size() < BEGIN.matcher(pem).results().count()) {
        throw new CertificateException("it contains no certificate, or an incomplete one");
      }
      return certificates;
    } catch (CertificateException e) {
      throw new ConfigurationException(
          "TLS_CERTIFICATE must name a PEM file with complete certificates, but %s cannot be read: %s"
              .formatted(certificate, e.getMessage()));
    }
  }

  private void requireValid(List<X509Certificate> chain) {
    for (X509Certificate each : chain) {
      try {
        each.checkValidity();
      } catch (CertificateException e) {
        throw new ConfigurationException(
            "TLS_CERTIFICATE must name a file with certificates that are valid now, but %s in %s is valid from %s to %s"
                .formatted(
                    each.getSubjectX500Principal(),
                    certificate,
                    each.getNotBefore().toInstant(),
                    each.getNotAfter().toInstant()));
      }
    }
  }
}
