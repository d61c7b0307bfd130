package org.plantstore.adapter.http.tls;

import io.micronaut.context.annotation.Requires;
import io.micronaut.http.ssl.CertificateProvider;
import io.micronaut.scheduling.annotation.Scheduled;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.security.KeyStore;
import org.plantstore.adapter.http.renewal.RenewedFiles;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Sinks;

/**
 * Provides the TLS certificate for new connections, and replaces it when the files contain another
 * usable certificate. The framework's {@code FileCertificateProvider} is not used, because it would
 * accept a private key that does not match the certificate, and would not notice when Kubernetes
 * replaces files by changing a symbolic link.
 */
@Singleton
@Named(RenewedCertificate.NAME)
@Requires(beans = TlsFiles.class)
final class RenewedCertificate implements CertificateProvider {

  /** The value of {@code micronaut.server.ssl.key-name}. */
  static final String NAME = "tls";

  private final RenewedFiles<TlsCertificate> certificate;
  private final Sinks.Many<KeyStore> keyStores = Sinks.many().replay().latest();

  RenewedCertificate(TlsFiles files) {
    certificate = new RenewedFiles<>("TLS_CERTIFICATE", files.read(null), files::read);
    publish();
  }

  /** Reads the files again. The scheduler never runs this method on two threads at once. */
  @Scheduled(initialDelay = "1s", fixedDelay = "1s")
  void renew() {
    if (certificate.renew()) {
      publish();
    }
  }

  private void publish() {
    keyStores.tryEmitNext(certificate.current().keyStore()).orThrow();
  }

  @Override
  public Publisher<KeyStore> getKeyStore() {
    return keyStores.asFlux();
  }

  @Override
  public String getName() {
    return NAME;
  }
}
