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
 * A certificate of this service. Immutable.
 *
 * @param chain the certificate, then its intermediate certificates
 * @param leftOut the number of other certificates in the file
 * @param keyStore the chain and its key
 * @param source the content of the files, which shows whether they have changed
 */
record TlsCertificate(List<X509Certificate> chain, int leftOut, KeyStore keyStore, String source) {

  /** Returns the first certificate, then the issuer of each, whatever their order in the file. */
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

  /** Returns the host names, the addresses, the earliest expiry, and how many are left out. */
  @Override
  @SuppressWarnings("JavaUtilDate") // as certificates return it
  public String toString() {
    List<?> names = List.of();
    try {
      Collection<List<?>> alternatives = chain.get(0).getSubjectAlternativeNames();
      if (alternatives != null) {
        names = alternatives.stream().map(kindAndName -> kindAndName.get(1)).toList();
      }
    } catch (CertificateParsingException e) {
      // Shows no names, which are only for people.
    }
    Date end = chain.stream().map(X509Certificate::getNotAfter).min(Date::compareTo).orElseThrow();
    return names
        + " until "
        + end.toInstant()
        + (leftOut == 0 ? "" : "; left out, because not of its chain: " + leftOut);
  }
}
