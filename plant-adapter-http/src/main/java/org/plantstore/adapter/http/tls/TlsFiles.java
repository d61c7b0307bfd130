package org.plantstore.adapter.http.tls;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.util.stream.Collectors.joining;

import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.core.value.PropertyResolver;
import java.io.ByteArrayInputStream;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
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

  private static final Pattern LABEL = Pattern.compile("-----BEGIN ([A-Z0-9 ]{1,40})-----");

  private static final Pattern BEGIN = Pattern.compile("-----BEGIN (?:X509 )?CERTIFICATE-----");

  /** What a file may contain in addition if both settings name it. */
  private static final Pattern PRIVATE_PART =
      Pattern.compile(
          "(?s)-----BEGIN ([A-Z0-9 ]*(?:PRIVATE KEY|PARAMETERS))-----.*?-----END \\1-----");

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
   * Returns the host names, the addresses and the earliest expiry of the certificate's chain.
   *
   * @throws ConfigurationException if a file cannot be read, a certificate of the chain is not
   *     valid now, or the key does not match
   */
  public String finding() {
    return read(null).toString();
  }

  /** Reads the files; returns the known certificate if they are unchanged. */
  TlsCertificate read(@Nullable TlsCertificate known) {
    String certificates = new String(RenewedFiles.bytes(CERTIFICATE, certificate), ISO_8859_1);
    String keys = new String(RenewedFiles.bytes(KEY, key), ISO_8859_1);
    String source = certificates + keys;
    if (known != null && known.source().equals(source)) {
      requireValid(known.chain());
      return known;
    }
    List<X509Certificate> all = certificates(PRIVATE_PART.matcher(certificates).replaceAll(""));
    List<X509Certificate> chain = TlsCertificate.chain(all);
    requireValid(chain);
    KeyStore keyStore;
    try {
      keyStore = TlsKey.read(keys, chain);
    } catch (Exception e) {
      String demand = "a PEM file of a private key without a password, in PKCS#8, PKCS#1 or SEC 1";
      throw new ConfigurationException(
          "TLS_KEY must be " + demand + ", but " + key + " cannot be read: " + e.getMessage());
    }
    if (!TlsKey.fits(keyStore, chain.get(0))) {
      String fault = key + " is not that of " + certificate;
      throw new ConfigurationException(
          "TLS_KEY must be the key of the first certificate in TLS_CERTIFICATE, but " + fault);
    }
    return new TlsCertificate(chain, all.size() - chain.size(), keyStore, source);
  }

  private List<X509Certificate> certificates(String pem) {
    try {
      List<X509Certificate> certificates =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(pem.getBytes(ISO_8859_1)))
              .stream()
              .map(X509Certificate.class::cast)
              .toList();
      // The factory skips a certificate that is cut off, as in a file that is being written.
      if (certificates.isEmpty() || certificates.size() < BEGIN.matcher(pem).results().count()) {
        throw new CertificateException("it is empty or cut off");
      }
      return certificates;
    } catch (CertificateException e) {
      String reason = BEGIN.matcher(pem).find() ? e.getMessage() : contentOf(pem);
      String fault = certificate + " cannot be read: " + reason;
      throw new ConfigurationException(
          "TLS_CERTIFICATE must be a PEM file of certificates, but " + fault);
    }
  }

  /** Returns what a PEM file contains according to its labels, such as a certificate request. */
  static String contentOf(String pem) {
    String labels =
        LABEL
            .matcher(pem)
            .results()
            .map(label -> label.group(1))
            .map(it -> pem.contains("-----END " + it + "-----") ? it : it + " that is cut off")
            .distinct()
            .collect(joining(", "));
    return labels.isEmpty() ? "it contains no PEM" : "it contains only " + labels;
  }

  private void requireValid(List<X509Certificate> chain) {
    for (X509Certificate each : chain) {
      try {
        each.checkValidity();
      } catch (CertificateException e) {
        boolean isOwn = each.equals(chain.get(0));
        throw new ConfigurationException(
            "TLS_CERTIFICATE must be valid now, but "
                + (isOwn
                    ? ""
                    : "the intermediate certificate " + each.getSubjectX500Principal() + " in ")
                + (certificate + " is from " + each.getNotBefore().toInstant())
                + (" to " + each.getNotAfter().toInstant()));
      }
    }
  }
}
