package org.plantstore.adapter.http.tls;

import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A certificate of this service.
 *
 * @param chain the certificate, then its intermediate certificates
 * @param leftOut how many other certificates the file has
 * @param keyStore the chain with its key
 * @param source the content of the files, by which a change is noticed
 */
record TlsCertificate(List<X509Certificate> chain, int leftOut, KeyStore keyStore, String source) {

  /** Returns the first certificate, then the issuer of each, in whatever order they are. */
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

  /** Returns the certificate that is the first to expire. */
  X509Certificate earliest() {
    return chain.stream().min(Comparator.comparing(X509Certificate::getNotAfter)).orElseThrow();
  }

  /** Returns the host names, the addresses, the earliest expiry and what was left out. */
  @Override
  public String toString() {
    List<?> names = List.of();
    try {
      Collection<List<?>> alternatives = chain.get(0).getSubjectAlternativeNames();
      if (alternatives != null) {
        names = alternatives.stream().map(kindAndName -> kindAndName.get(1)).toList();
      }
    } catch (CertificateParsingException e) {
      // The names are only for people.
    }
    String until = names + " until " + earliest().getNotAfter().toInstant();
    return leftOut == 0 ? until : until + "; left out, because not of its chain: " + leftOut;
  }
}
