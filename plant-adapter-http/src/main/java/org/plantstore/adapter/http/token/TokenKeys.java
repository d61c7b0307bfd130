package org.plantstore.adapter.http.token;

import static java.util.Objects.requireNonNull;

import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyConverter;
import io.micronaut.scheduling.annotation.Scheduled;
import jakarta.inject.Singleton;
import java.nio.file.Path;
import java.security.Key;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.renewal.RenewedFiles;

/**
 * The secrets, and the published keys of a file or a provider. The algorithm of a token decides
 * which of both it is checked with, so that no published key is taken for a secret (RFC 8725,
 * section 3.1). Safe for use by many threads.
 */
@Singleton
final class TokenKeys {

  /** The keys at one time, the same objects until a change, so that comparisons are cheap. */
  record Snapshot(SecretKeys secrets, @Nullable JWKSet published) {}

  private final RenewedFiles<SecretKeys> secrets;
  private final @Nullable RenewedFiles<PublishedKeys> file;
  private final @Nullable ProviderKeys provider;

  TokenKeys(TokenSettings settings) {
    secrets = new RenewedFiles<>("JWT_SECRET_FILE", settings.secrets(), SecretKeys::readAgain);
    Path path = settings.keySetFile();
    file = path == null ? null : fileOfKeys(path);
    provider =
        settings.keySet() == null || path != null
            ? null
            : new ProviderKeys(settings.keySet(), Duration.ofMinutes(5), 1_024);
  }

  private static RenewedFiles<PublishedKeys> fileOfKeys(Path path) {
    PublishedKeys keys = PublishedKeys.read(path);
    keys.warnOfLeftOut();
    return new RenewedFiles<>("JWT_JWKS_URL", keys, known -> PublishedKeys.read(path));
  }

  @Scheduled(initialDelay = "1s", fixedDelay = "1s")
  void renew() {
    secrets.renew();
    if (file != null) {
      file.renew();
    }
  }

  Snapshot current() {
    JWKSet ofFile = file == null ? null : file.current().usable();
    return new Snapshot(secrets.current(), provider == null ? ofFile : provider.current());
  }

  /** Returns whether a published key verifies a token; it may be unknown, and takes long to use. */
  boolean arePublished(JWSHeader header) {
    return (file != null || provider != null)
        && PublishedKeys.ALGORITHMS.contains(header.getAlgorithm());
  }

  /** Completes when a published key is known, or the provider has been asked for it. */
  CompletableFuture<Void> search(JWSHeader header, Executor executor) {
    return provider == null
        ? CompletableFuture.completedFuture(null)
        : provider.search(selector(header), executor);
  }

  /** Returns the known keys that may verify a token; throws RefusedException as the provider. */
  List<? extends Key> find(JWSHeader header) {
    if (!arePublished(header)) {
      return secrets.current().select(header);
    }
    return KeyConverter.toJavaKeys(
        file == null
            ? requireNonNull(provider).find(selector(header))
            : selector(header).select(file.current().usable()));
  }

  private static JWKSelector selector(JWSHeader header) {
    return new JWKSelector(PublishedKeys.matcher(header));
  }
}
