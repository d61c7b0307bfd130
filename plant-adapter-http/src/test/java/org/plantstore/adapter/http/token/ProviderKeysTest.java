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
import java.util.concurrent.TimeUnit;
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

  private static final ECKey KNOWN = IdentityProvider.key(Curve.P_256, "known").toPublicJWK();
  private static final ECKey NEXT = IdentityProvider.key(Curve.P_256, "next").toPublicJWK();
  private static final ECKey FORGED = IdentityProvider.key(Curve.P_256, "forged").toPublicJWK();

  @AutoClose private final IdentityProvider provider = new IdentityProvider(KNOWN);

  @Test
  void known_key_outlives_its_lifetime_while_the_provider_is_down_until_it_is_withdrawn()
      throws Exception {
    ProviderKeys keys = keys(Duration.ofSeconds(1));
    keys.renew();
    assertEquals(0, provider.fetches(), "fetches before the first token");
    assertEquals(List.of(KNOWN), find(keys, KNOWN));
    keys.renew();
    assertEquals(1, provider.fetches(), "fetches within the lifetime");

    provider.goDown();
    while (provider.fetches() < 3) {
      keys.renew();
      assertEquals(List.of(KNOWN), find(keys, KNOWN));
    }
    assertThrows(RefusedException.class, () -> find(keys, NEXT));

    provider.publish(NEXT);
    while (keys.current().containsJWK(KNOWN)) {
      keys.renew();
    }
    assertEquals(List.of(NEXT), find(keys, NEXT));
    assertEquals(List.of(), keys.find(selector(KNOWN)));
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
      searches.add(keys.search(selector(NEXT), Runnable::run));
      searches.add(keys.search(selector(FORGED), Runnable::run));
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
    CompletableFuture<Void> first = keys.search(selector(FORGED), Runnable::run);
    provider.awaitFetches(1);
    CompletableFuture<Void> known = keys.search(selector(KNOWN), Runnable::run);
    CompletableFuture<Void> newer = keys.search(selector(NEXT), Runnable::run);
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
  void searches_that_wait_are_bounded_and_keep_no_known_key_waiting() throws Exception {
    ProviderKeys keys = new ProviderKeys(provider.url(), Duration.ofMinutes(1), 1);
    assertEquals(List.of(KNOWN), find(keys, KNOWN));
    provider.answer(IdentityProvider.SILENCE);
    CompletableFuture<Void> search = keys.search(selector(NEXT), Runnable::run);

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
    keys.search(selector(key), Runnable::run).get(30, TimeUnit.SECONDS);
    return keys.find(selector(key));
  }

  private static JWKSelector selector(JWK key) {
    return new JWKSelector(new JWKMatcher.Builder().keyID(key.getKeyID()).build());
  }
}
