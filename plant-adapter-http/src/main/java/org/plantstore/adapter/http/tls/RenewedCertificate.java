package org.plantstore.adapter.http.tls;

import io.micronaut.context.annotation.Requires;
import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.http.ssl.CertificateProvider;
import io.micronaut.scheduling.annotation.Scheduled;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.security.KeyStore;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Sinks;

/**
 * The certificate for new connections, replaced when the files contain another usable one. Reads
 * the files every second, because a watch of their folder would miss a changed symbolic link above
 * the folder, as on Kubernetes. {@link #renew} runs in one thread at a time.
 */
@Singleton
@Named(RenewedCertificate.NAME)
@Requires(beans = TlsFiles.class)
final class RenewedCertificate implements CertificateProvider {

  /** The name in {@code micronaut.server.ssl.key-name}. */
  static final String NAME = "tls";

  private static final Logger LOG = LoggerFactory.getLogger(RenewedCertificate.class);

  private final TlsFiles files;
  private final Sinks.Many<KeyStore> keyStores = Sinks.many().replay().latest();
  private TlsCertificate current;
  private int failures;

  RenewedCertificate(TlsFiles files) {
    this.files = files;
    this.current = files.read(null);
    publish();
  }

  @Scheduled(initialDelay = "1s", fixedDelay = "1s")
  void renew() {
    try {
      TlsCertificate found = files.read(current);
      failures = 0;
      if (!found.equals(current)) {
        current = found;
        publish();
      }
    } catch (ConfigurationException e) {
      failures++;
      // A line an hour, the first after 10 s: the files are replaced one after the other.
      if (failures % 3_600 == 10) {
        String fault = e.getMessage();
        LOG.warn("The certificate is not renewed; the one in use is for {}: {}", current, fault);
      }
    }
  }

  private void publish() {
    keyStores.tryEmitNext(current.keyStore()).orThrow();
    LOG.info("Connections get the certificate for {}", current);
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
