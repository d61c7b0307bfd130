package org.plantstore.adapter.http.tls;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Collection;
import java.util.List;

/**
 * A certificate with its key. Immutable.
 *
 * @param chain the certificate of this service, then its intermediate certificates
 * @param key the private key of the first certificate
 * @param source the content of the files, by which a change is noticed
 */
public record TlsCertificate(List<X509Certificate> chain, PrivateKey key, String source) {

  /** Returns the moment at which the certificate expires. */
  public Instant expiry() {
    return chain.get(0).getNotAfter().toInstant();
  }

  KeyStore toKeyStore() {
    try {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      store.setKeyEntry("key", key, null, chain.toArray(new X509Certificate[0]));
      return store;
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException(e); // PKCS12 is in every JDK, and nothing is read
    }
  }

  /** Returns the host names, the addresses and the expiry. */
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
    return names + " until " + expiry();
  }
}
