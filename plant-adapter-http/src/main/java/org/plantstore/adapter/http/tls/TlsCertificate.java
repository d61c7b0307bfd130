package org.plantstore.adapter.http.tls;

import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.Date;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The service's certificate, with its chain and its private key. Immutable.
 *
 * @param chain the service's certificate, followed by its intermediate certificates
 * @param unused the number of certificates in the file that do not belong to the chain
 * @param keyStore the key store that contains the chain and the private key
 * @param source the content of the files, used to detect changes
 */
record TlsCertificate(List<X509Certificate> chain, int unused, KeyStore keyStore, String source) {

  /**
   * Returns the first certificate, followed by its issuers, which the file may list in any order.
   */
  static List<X509Certificate> chain(List<X509Certificate> all) {
    Set<X509Certificate> chain = new LinkedHashSet<>();
    Optional<X509Certificate> next = Optional.of(all.get(0));
    while (next.isPresent()) {
      X509Certificate last = next.get();
      chain.add(last);
      next =
          all.stream().filter(other -> !chain.contains(other) && isIssuer(other, last)).findFirst();
    }
    return List.copyOf(chain);
  }

  private static boolean isIssuer(X509Certificate issuer, X509Certificate issued) {
    if (!issuer.getSubjectX500Principal().equals(issued.getIssuerX500Principal())) {
      return false;
    }
    try {
      issued.verify(issuer.getPublicKey());
      return true;
    } catch (GeneralSecurityException e) {
      return false;
    }
  }

  /**
   * Returns a summary that contains the certificate's host names and addresses, the earliest
   * expiration date in the chain, and the number of unused certificates.
   */
  @Override
  @SuppressWarnings("JavaUtilDate") // because X509Certificate returns a Date
  public String toString() {
    List<?> names = List.of();
    try {
      Collection<List<?>> alternatives = chain.get(0).getSubjectAlternativeNames();
      if (alternatives != null) {
        names = alternatives.stream().map(kindAndName -> kindAndName.get(1)).toList();
      }
    } catch (CertificateParsingException e) {
      // Names that cannot be parsed are omitted, because the names are only informational.
    }
    Date end = chain.stream().map(X509Certificate::getNotAfter).min(Date::compareTo).orElseThrow();
    return names
        + ", valid until "
        + end.toInstant()
        + (unused == 0 ? "" : "; unused certificates outside the chain: " + unused);
  }
}
