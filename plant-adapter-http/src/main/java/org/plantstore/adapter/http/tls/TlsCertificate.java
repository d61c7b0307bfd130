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
 * A certificate with its key.
 *
 * @param chain the certificate, and those that lead to a trusted one
 * @param key the private key of the first certificate
 */
public record TlsCertificate(List<X509Certificate> chain, PrivateKey key) {

  /** Returns the host names and addresses that clients may know the service by. */
  public List<String> names() {
    try {
      Collection<List<?>> names = chain.get(0).getSubjectAlternativeNames();
      return names == null
          ? List.of()
          : names.stream().map(kindAndName -> String.valueOf(kindAndName.get(1))).toList();
    } catch (CertificateParsingException e) {
      return List.of();
    }
  }

  /** Returns the moment from which on clients refuse the certificate. */
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

  /** Returns the names and the expiry, and nothing of the key. */
  @Override
  public String toString() {
    return names() + " until " + expiry();
  }
}
