package org.plantstore.adapter.http.tls;

import java.security.KeyStore;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;

/**
 * A certificate of this service.
 *
 * @param own the certificate
 * @param keyStore the certificate with its key and its intermediate certificates
 * @param source the content of the files, by which a change is noticed
 */
record TlsCertificate(X509Certificate own, KeyStore keyStore, String source) {

  /** Returns the host names, the addresses and the expiry. */
  @Override
  public String toString() {
    List<?> names = List.of();
    try {
      Collection<List<?>> alternatives = own.getSubjectAlternativeNames();
      if (alternatives != null) {
        names = alternatives.stream().map(kindAndName -> kindAndName.get(1)).toList();
      }
    } catch (CertificateParsingException e) {
      // The names are only for people.
    }
    return names + " until " + own.getNotAfter().toInstant();
  }
}
