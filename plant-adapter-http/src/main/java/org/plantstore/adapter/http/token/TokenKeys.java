package org.plantstore.adapter.http.token;

import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyConverter;
import io.micronaut.scheduling.annotation.Scheduled;
import jakarta.inject.Singleton;
import java.nio.file.Path;
import java.security.Key;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.renewal.RenewedFiles;

/**
 * The secrets, and the public keys of a file or a provider. The algorithm of a token decides which
 * of both it is checked with, so that no public key is taken for a secret (RFC 8725, section 3.1).
 * Safe for use by many threads.
 */
@Singleton
final class TokenKeys {

  /** The keys at one time, the same objects until a change, so that comparisons are cheap. */
  record Snapshot(SecretKeys secrets, JWKSet published) {}

  private final RenewedFiles<SecretKeys> secrets;

  /** No keys if there is no file. */
  private final RenewedFiles<KeySet> file;

  private final @Nullable ProviderKeys provider;

  TokenKeys(TokenSettings settings) {
    secrets = new RenewedFiles<>("JWT_SECRET_FILE", settings.secrets(), SecretKeys::readAgain);
    Path path = settings.keySetFile();
    file =
        new RenewedFiles<>(
            "JWT_JWKS_URL",
            path == null ? new KeySet(new JWKSet(), List.of()) : KeySet.read(path),
            known -> path == null ? known : KeySet.read(path));
    file.current().warn();
    provider =
        settings.keySet() == null || path != null
            ? null
            : new ProviderKeys(settings.keySet(), Duration.ofMinutes(5), 1_024);
  }

  @Scheduled(initialDelay = "1s", fixedDelay = "1s")
  void renew() {
    secrets.renew();
    file.renew();
    if (provider != null) {
      provider.renew();
    }
  }

  Snapshot current() {
    return new Snapshot(
        secrets.current(), provider == null ? file.current().usable() : provider.current());
  }

  /**
   * Completes when the provider has been asked for a key that may have signed a token; see {@link
   * ProviderKeys#search}.
   */
  CompletableFuture<Void> search(JWSHeader header, JWKSet tried, Consumer<Runnable> withIds) {
    return provider == null || !KeySet.ALGORITHMS.contains(header.getAlgorithm())
        ? CompletableFuture.completedFuture(null)
        : provider.search(KeySet.selector(header), tried, withIds);
  }

  /** Returns the known keys that may verify a token. */
  List<? extends Key> find(JWSHeader header) {
    return KeySet.ALGORITHMS.contains(header.getAlgorithm())
        ? KeyConverter.toJavaKeys(KeySet.selector(header).select(current().published()))
        : secrets.current().select(header);
  }

  /** Returns which keys there are for the kind of algorithm of a token. */
  String describe(JWSHeader header) {
    return KeySet.ALGORITHMS.contains(header.getAlgorithm())
        ? "one of the keys " + current().published().getKeys().stream().map(JWK::getKeyID).toList()
        : secrets.current() + " of sufficient length";
  }
}
