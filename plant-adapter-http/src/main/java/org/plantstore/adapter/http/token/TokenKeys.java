package org.plantstore.adapter.http.token;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.proc.JWSKeySelector;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import java.net.URI;
import java.security.Key;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.renewal.RenewedFiles;

/**
 * The keys of all sources: secrets, and published keys. The algorithm of a token decides which of
 * both it is checked with, so that no published key is taken for a secret (RFC 8725, section 3.1).
 * Safe for use by many threads.
 */
final class TokenKeys implements JWSKeySelector<SecurityContext> {

  /** The keys that are known at one time. */
  record Snapshot(SecretKeys secrets, @Nullable JWKSet published) {

    /** Returns whether another snapshot has the same keys. */
    @SuppressWarnings("ReferenceEquality") // the same objects until the keys change
    boolean isSame(Snapshot other) {
      return secrets == other.secrets && published == other.published;
    }
  }

  private final RenewedFiles<SecretKeys> secrets;
  private final @Nullable PublishedKeySource published;

  TokenKeys(TokenSettings settings) {
    secrets = new RenewedFiles<>("JWT_SECRET_FILE", settings.secrets(), SecretKeys::readAgain);
    URI keySet = settings.keySet();
    if (keySet == null) {
      published = null;
    } else if (TokenSettings.isFile(keySet)) {
      published = FileKeys.of(keySet);
    } else {
      published = new ProviderKeys(keySet, Duration.ofMinutes(5), 1_024);
    }
  }

  /** Reads the files again. Is called every second, by one thread at a time. */
  void renew() {
    secrets.renew();
    if (published instanceof FileKeys keys) {
      keys.file().renew();
    }
  }

  Snapshot current() {
    return new Snapshot(secrets.current(), published == null ? null : published.current());
  }

  /** Returns whether keys are published, of which one may be unknown or take long to use. */
  boolean arePublished() {
    return published != null;
  }

  /** Completes when the key of a token is known, or the provider has been asked for the key. */
  CompletableFuture<Void> search(JWSHeader header, Executor executor) {
    return published != null && PublishedKeys.ALGORITHMS.contains(header.getAlgorithm())
        ? published.search(new JWKSelector(PublishedKeys.matcher(header)), executor)
        : CompletableFuture.completedFuture(null);
  }

  @Override
  public List<? extends Key> selectJWSKeys(JWSHeader header, @Nullable SecurityContext context)
      throws KeySourceException {
    if (published == null || JWSAlgorithm.Family.HMAC_SHA.contains(header.getAlgorithm())) {
      return secrets.current().select(header);
    }
    JWSVerificationKeySelector<SecurityContext> selector =
        new JWSVerificationKeySelector<>(PublishedKeys.ALGORITHMS, published) {
          @Override
          protected JWKMatcher createJWKMatcher(JWSHeader header) {
            return PublishedKeys.matcher(header);
          }
        };
    return selector.selectJWSKeys(header, context);
  }
}
