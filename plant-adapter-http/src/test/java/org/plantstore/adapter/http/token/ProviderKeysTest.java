package org.plantstore.adapter.http.token;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.JWKSelector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;

/** The keys of a provider as time passes, and while it is down. */
@Timeout(60)
@Execution(ExecutionMode.CONCURRENT)
class ProviderKeysTest {

  private static final Duration SHORT_LIFETIME = Duration.ofMillis(500);

  private static final ECKey KNOWN = IdentityProvider.key(Curve.P_256, "known").toPublicJWK();
  private static final ECKey NEXT = IdentityProvider.key(Curve.P_256, "next").toPublicJWK();
  private static final ECKey FORGED = IdentityProvider.key(Curve.P_256, "forged").toPublicJWK();

  @AutoClose private final IdentityProvider provider = new IdentityProvider(KNOWN);

  @AutoClose("shutdownNow")
  private final ExecutorService executor = Executors.newCachedThreadPool();

  @Test
  void known_key_outlives_its_lifetime_while_the_provider_is_down_until_it_is_withdrawn()
      throws Exception {
    ProviderKeys keys = keys(SHORT_LIFETIME);
    assertEquals(List.of(KNOWN), find(keys, KNOWN));
    provider.goDown();
    int fetchesBefore = provider.fetches();

    for (long end = System.nanoTime() + SHORT_LIFETIME.multipliedBy(5).toNanos();
        System.nanoTime() < end; ) {
      assertEquals(List.of(KNOWN), find(keys, KNOWN));
      LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
    }

    assertTrue(provider.fetches() > fetchesBefore, "the provider was asked while it was down");
    assertThrows(RefusedException.class, () -> find(keys, NEXT));

    provider.publish(NEXT);
    while (!find(keys, KNOWN).isEmpty()) {
      LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
    }
    assertEquals(List.of(NEXT), find(keys, NEXT));
  }

  @Test
  void keys_are_fetched_ahead_of_the_end_of_their_lifetime() throws Exception {
    ProviderKeys keys = keys(Duration.ofSeconds(8));
    assertEquals(List.of(KNOWN), find(keys, KNOWN));
    provider.answer(IdentityProvider.SILENCE);

    // No search waits for the fetch that begins meanwhile.
    while (provider.fetches() == 1) {
      long start = System.nanoTime();
      assertEquals(List.of(KNOWN), find(keys, KNOWN));
      assertTrue(System.nanoTime() - start < Duration.ofSeconds(1).toNanos());
      LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
    }
  }

  @Test
  void unknown_key_waits_for_the_next_fetch_that_the_limit_allows() throws Exception {
    Duration pause = Duration.ofSeconds(2);
    ProviderKeys keys = keys(pause.multipliedBy(120));
    long start = System.nanoTime();
    assertEquals(List.of(KNOWN), find(keys, KNOWN));
    assertEquals(List.of(), find(keys, NEXT));
    assertEquals(2, provider.fetches());

    provider.publish(KNOWN, NEXT);
    List<CompletableFuture<Void>> searches = new ArrayList<>();
    for (int search = 0; search < 10; search++) {
      searches.add(keys.search(selector(NEXT), executor));
      searches.add(keys.search(selector(FORGED), executor));
    }
    searches.forEach(CompletableFuture::join);

    assertEquals(List.of(NEXT), keys.find(selector(NEXT)));
    assertEquals(List.of(), keys.find(selector(FORGED)));
    assertTrue(System.nanoTime() - start >= 2 * pause.toNanos());
    assertEquals(3, provider.fetches());
  }

  @Test
  void search_ends_with_a_fetch_that_began_later_or_finds_its_key_and_others_ask_again()
      throws Exception {
    ProviderKeys keys = keys(Duration.ofMinutes(5));
    CountDownLatch published = new CountDownLatch(1);
    CountDownLatch publishedAgain = new CountDownLatch(1);
    provider.answerAfter(published);
    CompletableFuture<Void> first = keys.search(selector(FORGED), executor);
    provider.awaitFetches(1);
    CompletableFuture<Void> known = keys.search(selector(KNOWN), executor);
    CompletableFuture<Void> newer = keys.search(selector(NEXT), executor);
    provider.publish(KNOWN, NEXT);
    provider.answerAfter(publishedAgain);
    published.countDown();

    CompletableFuture.allOf(first, known).get(30, TimeUnit.SECONDS);
    assertEquals(List.of(KNOWN), keys.find(selector(KNOWN)));
    assertFalse(newer.isDone());

    publishedAgain.countDown();
    newer.get(30, TimeUnit.SECONDS);
    assertEquals(List.of(NEXT), keys.find(selector(NEXT)));
    assertEquals(2, provider.fetches());
  }

  @Test
  void provider_that_is_down_is_asked_once_in_a_120th_of_the_lifetime() throws Exception {
    Duration pause = Duration.ofMillis(250);
    ProviderKeys keys = keys(pause.multipliedBy(120));
    provider.goDown();
    long start = System.nanoTime();

    while (provider.fetches() <= 4) {
      assertThrows(RefusedException.class, () -> find(keys, KNOWN));
    }

    assertTrue(System.nanoTime() - start >= 4 * pause.toNanos());
  }

  @Test
  void searches_that_wait_are_bounded_and_keep_no_key_waiting_that_has_outlived_its_lifetime()
      throws Exception {
    ProviderKeys keys = new ProviderKeys(provider.url(), SHORT_LIFETIME, 1);
    assertEquals(List.of(KNOWN), find(keys, KNOWN));
    LockSupport.parkNanos(SHORT_LIFETIME.toNanos());
    provider.answer(IdentityProvider.SILENCE);
    CompletableFuture<Void> search = keys.search(selector(NEXT), executor);
    provider.awaitFetches(2);

    RefusedException refusal = assertThrows(RefusedException.class, () -> find(keys, NEXT));
    assertEquals(ErrorNumber.OVERLOADED, refusal.error());
    assertEquals(List.of(KNOWN), find(keys, KNOWN));
    assertFalse(search.isDone(), "the search still waits");

    search.get(30, TimeUnit.SECONDS);
    assertThrows(RefusedException.class, () -> keys.find(selector(NEXT)));
  }

  private ProviderKeys keys(Duration lifetime) {
    return new ProviderKeys(provider.url(), lifetime, 100);
  }

  private List<JWK> find(ProviderKeys keys, JWK key) throws Exception {
    keys.search(selector(key), executor).get(30, TimeUnit.SECONDS);
    return keys.find(selector(key));
  }

  private static JWKSelector selector(JWK key) {
    return new JWKSelector(new JWKMatcher.Builder().keyID(key.getKeyID()).build());
  }
}
