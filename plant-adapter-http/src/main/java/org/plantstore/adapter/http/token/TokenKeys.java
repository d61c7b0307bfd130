package org.plantstore.adapter.http.token;

import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyConverter;
import com.nimbusds.jose.proc.JWSKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import io.micronaut.scheduling.annotation.Scheduled;
import jakarta.inject.Singleton;
import java.security.Key;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.renewal.RenewedFiles;

/**
 * The secrets and the published keys. The algorithm of a token decides which of both it is checked
 * with, so that no published key is taken for a secret (RFC 8725, section 3.1). Safe for use by
 * many threads.
 */
@Singleton
final class TokenKeys implements JWSKeySelector<SecurityContext> {

  /** The keys at one time, the same objects until a change, so that comparisons are cheap. */
  record Snapshot(SecretKeys secrets, @Nullable JWKSet published) {}

  private final RenewedFiles<SecretKeys> secrets;
  private final @Nullable ProviderKeys published;

  TokenKeys(TokenSettings settings) {
    secrets = new RenewedFiles<>("JWT_SECRET_FILE", settings.secrets(), SecretKeys::readAgain);
    published =
        settings.keySet() == null
            ? null
            : new ProviderKeys(settings.keySet(), Duration.ofMinutes(5), 1_024);
    renew();
  }

  @Scheduled(initialDelay = "1s", fixedDelay = "1s")
  void renew() {
    secrets.renew();
    if (published != null && published.isFile()) {
      published.renew();
    }
  }

  Snapshot current() {
    return new Snapshot(secrets.current(), published == null ? null : published.current());
  }

  /** Returns whether a published key verifies a token; it may be unknown, and takes long to use. */
  boolean arePublished(JWSHeader header) {
    return published != null && PublishedKeys.ALGORITHMS.contains(header.getAlgorithm());
  }

  /** Completes when the key of a token is known, or the provider has been asked for the key. */
  CompletableFuture<Void> search(JWSHeader header, Executor executor) {
    return published != null && arePublished(header)
        ? published.search(new JWKSelector(PublishedKeys.matcher(header)), executor)
        : CompletableFuture.completedFuture(null);
  }

  @Override
  public List<? extends Key> selectJWSKeys(JWSHeader header, @Nullable SecurityContext context)
      throws KeySourceException {
    return published != null && arePublished(header)
        ? KeyConverter.toJavaKeys(
            published.get(new JWKSelector(PublishedKeys.matcher(header)), context))
        : secrets.current().select(header);
  }
}
