package org.plantstore.adapter.http.token;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.DefaultJOSEProcessor;
import com.nimbusds.jose.proc.JWSKeySelector;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.SignedJWT;
import io.micronaut.context.annotation.Property;
import io.micronaut.context.env.Environment;
import io.micronaut.http.context.ServerRequestContext;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.security.token.jwt.signature.ReactiveSignatureConfiguration;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Inject;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.net.URL;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Semaphore;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.adapter.http.observe.DiagnosticContext;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Checks a token's signature with the configured key, and accepts no algorithm that this key is not
 * meant for (RFC 8725, section 3.1). Keys come from the configuration alone, never from the token's
 * header.
 */
@Singleton
final class TokenSignature implements ReactiveSignatureConfiguration<SignedJWT> {

  private static final Set<JWSAlgorithm> PUBLIC_KEY_ALGORITHMS =
      Set.of(
          JWSAlgorithm.RS256,
          JWSAlgorithm.RS384,
          JWSAlgorithm.RS512,
          JWSAlgorithm.PS256,
          JWSAlgorithm.PS384,
          JWSAlgorithm.PS512,
          JWSAlgorithm.ES256,
          JWSAlgorithm.ES384,
          JWSAlgorithm.ES512);

  /** A token of another declared type, such as a log-out token, is no access token. */
  private static final DefaultJOSEObjectTypeVerifier<SecurityContext> TYPES =
      new DefaultJOSEObjectTypeVerifier<>(
          null,
          JOSEObjectType.JWT,
          new JOSEObjectType("at+jwt"),
          new JOSEObjectType("application/at+jwt"));

  private static final Duration KEY_CACHE_TIME = Duration.ofMinutes(5);

  private final DefaultJOSEProcessor<SecurityContext> processor = new DefaultJOSEProcessor<>();

  /** For checks that only compute: more threads than processors would only take turns. */
  private final Scheduler scheduler;

  /** For checks that may wait for a provider. */
  private final Scheduler waitingScheduler;

  private final @Nullable ProviderKeys providerKeys;

  /**
   * Bounds what waits for a provider: callers without a valid token get here, too. Tokens of keys
   * that are at hand need no place, so that those callers cannot keep them out.
   */
  private final Semaphore places;

  @Inject
  TokenSignature(
      Environment environment,
      @Named(TaskExecutors.BLOCKING) ExecutorService executor,
      @Property(name = "max.concurrent.creates") int maxConcurrentCreates) {
    places = new Semaphore(maxConcurrentCreates);
    waitingScheduler = Schedulers.fromExecutorService(executor);
    TokenSettings settings = TokenSettings.of(environment);
    URL keySet = settings.keySet();
    byte[] secret = settings.secret();
    processor.setJWSTypeVerifier(TYPES);
    if (keySet != null) {
      providerKeys = new ProviderKeys(keySet, KEY_CACHE_TIME);
      processor.setJWSKeySelector(
          new JWSVerificationKeySelector<>(PUBLIC_KEY_ALGORITHMS, providerKeys));
      // An event loop is kept for its other connections.
      scheduler = Schedulers.parallel();
    } else if (secret != null) {
      providerKeys = null;
      processor.setJWSKeySelector(selectorOf(secret));
      scheduler = Schedulers.immediate();
    } else {
      throw new IllegalArgumentException("settings without a key");
    }
  }

  /** RFC 7518, section 3.2: the key must not be shorter than the output of the hash function. */
  private static JWSKeySelector<SecurityContext> selectorOf(byte[] secret) {
    Set<JWSAlgorithm> algorithms = new HashSet<>(Set.of(JWSAlgorithm.HS256));
    if (secret.length >= 48) {
      algorithms.add(JWSAlgorithm.HS384);
    }
    if (secret.length >= 64) {
      algorithms.add(JWSAlgorithm.HS512);
    }
    List<SecretKey> keys = List.of(new SecretKeySpec(secret, "HMAC"));
    return (header, context) ->
        algorithms.contains(header.getAlgorithm()) ? keys : List.<SecretKey>of();
  }

  /**
   * Answers what tokens are checked with now; it equals what it was as long as the keys are the
   * same.
   */
  Object keys() {
    return providerKeys == null ? processor : providerKeys.current();
  }

  @Override
  public Publisher<Boolean> verify(SignedJWT token) {
    DiagnosticContext context =
        ServerRequestContext.currentRequest()
            .map(DiagnosticContext::of)
            .orElse(DiagnosticContext.NONE);
    Mono<Boolean> check = Mono.fromCallable(() -> context.supply(() -> isValid(token)));
    return Mono.defer(() -> {
      if (!mayWait(token.getHeader())) {
        return check.subscribeOn(scheduler);
      }
      return places.tryAcquire()
          ? check.subscribeOn(waitingScheduler).doFinally(signal -> places.release())
          : Mono.error(new RefusedException(ErrorNumber.OVERLOADED));
    });
  }

  /** Says whether the key of a token has to be fetched, or looked for at the provider. */
  private boolean mayWait(JWSHeader header) {
    return providerKeys != null
        && PUBLIC_KEY_ALGORITHMS.contains(header.getAlgorithm())
        && !providerKeys.areAtHand(new JWKSelector(JWKMatcher.forJWSHeader(header)));
  }

  private boolean isValid(SignedJWT token) {
    try {
      processor.process(token, null);
      return true;
    } catch (KeySourceException e) {
      throw new RefusedException(ErrorNumber.KEYS_UNAVAILABLE);
    } catch (BadJOSEException | JOSEException e) {
      return false;
    }
  }

  @PreDestroy
  void close() throws IOException {
    if (providerKeys != null) {
      providerKeys.close();
    }
  }
}
