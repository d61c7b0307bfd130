package org.plantstore.adapter.http.token;

import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyConverter;
import io.micronaut.scheduling.annotation.Scheduled;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.net.URI;
import java.security.Key;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.renewal.RenewedFiles;

/**
 * The keys that verify tokens: secrets, and public keys from a file or an identity provider. Safe
 * for use by multiple threads.
 */
@Singleton
final class TokenKeys {

  /**
   * The keys that are known at a point in time. Comparing two snapshots is cheap, because snapshots
   * share the same objects until the keys change.
   */
  record Snapshot(SecretKeys secrets, JWKSet published) {

    /**
     * Returns the keys that match a token's header. The token's algorithm determines whether
     * secrets or public keys are returned, so that a public key is never used as a secret (RFC
     * 8725, section 3.1).
     */
    List<? extends Key> find(JWSHeader header) {
      return PublishedKey.isFor(header)
          ? KeyConverter.toJavaKeys(PublishedKey.selector(header).select(published))
          : secrets.select(header);
    }

    /**
     * Returns a description of the public keys if the token's algorithm requires a public key, or a
     * description of the secrets if it requires a secret.
     */
    String describe(JWSHeader header) {
      return PublishedKey.isFor(header)
          ? "one of the key IDs " + published.getKeys().stream().map(JWK::getKeyID).toList()
          : "an HMAC algorithm for which at least one secret is long enough";
    }
  }

  private final RenewedFiles<SecretKeys> secrets;
  private final RenewedFiles<KeySet> file;
  private final @Nullable ProviderKeys provider;
  private volatile Snapshot current;

  @Inject
  TokenKeys(TokenSettings settings) {
    this(settings, KeySetClient.TIMEOUT);
  }

  /** Creates an instance with the given limit on the duration of a fetch from the provider. */
  TokenKeys(TokenSettings settings, Duration fetchTimeout) {
    secrets = new RenewedFiles<>("JWT_SECRET_FILE", settings.secrets(), SecretKeys::readAgain);
    file =
        new RenewedFiles<>("JWT_JWKS_URL", settings.readKeySet(), known -> settings.readKeySet());
    file.current().warnOfUnusableKeys();
    URI address = settings.provider();
    provider =
        address == null
            ? null
            : new ProviderKeys(new KeySetClient(address, fetchTimeout), Duration.ofMinutes(5));
    current = new Snapshot(secrets.current(), file.current().usable());
  }

  @Scheduled(initialDelay = "1s", fixedDelay = "1s")
  void renew() {
    secrets.renew();
    file.renew();
    if (provider != null) {
      provider.renew();
    }
    update();
  }

  /** Replaces the snapshot; synchronized, so that an older snapshot cannot replace a newer one. */
  private synchronized Snapshot update() {
    current =
        new Snapshot(
            secrets.current(), provider == null ? file.current().usable() : provider.current());
    return current;
  }

  Snapshot current() {
    return current;
  }

  /**
   * Asks the provider for the key that verifies a token (see {@link ProviderKeys#search}). The
   * returned future completes with the keys that are known after the search.
   *
   * @param tried the known keys, none of which verified the token's signature
   */
  CompletableFuture<Snapshot> search(JWSHeader header, Snapshot tried) {
    return provider == null || !PublishedKey.isFor(header)
        ? CompletableFuture.completedFuture(current)
        : provider
            .search(PublishedKey.selector(header), tried.published)
            .thenApply(ended -> update());
  }
}
