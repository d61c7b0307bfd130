package org.plantstore.adapter.http.token;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;

/** What happens to the keys of a provider as time passes, and while it is down. */
@Timeout(60)
class ProviderKeysTest {

  private static final Duration SHORT_LIFETIME = Duration.ofMillis(500);
  private static final Duration LIFETIME = Duration.ofMinutes(5);

  private static ECKey known;
  private static ECKey next;

  private IdentityProvider provider;
  private final ExecutorService executor = Executors.newCachedThreadPool();

  @BeforeAll
  static void generateKeys() throws JOSEException {
    known = new ECKeyGenerator(Curve.P_256).keyID("known").generate().toPublicJWK();
    next = new ECKeyGenerator(Curve.P_256).keyID("next").generate().toPublicJWK();
  }

  @BeforeEach
  void start() {
    provider = new IdentityProvider(known);
  }

  @AfterEach
  void stop() {
    provider.close();
    executor.shutdownNow();
  }

  @Test
  void known_key_outlives_its_lifetime_while_the_provider_is_down() throws Exception {
    ProviderKeys keys = keys(SHORT_LIFETIME);
    assertEquals(List.of(known), find(keys, known));
    provider.goDown();
    int fetchesBefore = provider.fetches();

    for (long end = System.nanoTime() + SHORT_LIFETIME.multipliedBy(5).toNanos();
        System.nanoTime() < end; ) {
      assertEquals(List.of(known), find(keys, known));
      LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
    }

    assertTrue(provider.fetches() > fetchesBefore, "the provider was asked while it was down");
    assertThrows(KeySourceException.class, () -> find(keys, next));
  }

  @Test
  void key_that_the_provider_withdraws_is_forgotten() throws Exception {
    ProviderKeys keys = keys(SHORT_LIFETIME);
    assertEquals(List.of(known), find(keys, known));
    provider.publish(next);

    while (!find(keys, known).isEmpty()) {
      LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
    }

    assertEquals(List.of(next), find(keys, next));
  }

  @Test
  void keys_are_fetched_ahead_of_the_end_of_their_lifetime() throws Exception {
    ProviderKeys keys = keys(Duration.ofSeconds(8));
    assertEquals(List.of(known), find(keys, known));
    provider.drip();

    // Nobody waits for the fetch that begins meanwhile.
    while (provider.fetches() == 1) {
      long start = System.nanoTime();
      assertEquals(List.of(known), find(keys, known));
      assertTrue(System.nanoTime() - start < Duration.ofSeconds(1).toNanos());
      LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
    }
  }

  @Test
  void searches_for_an_unknown_key_make_one_more_fetch_and_change_nothing() throws Exception {
    ProviderKeys keys = keys(LIFETIME);
    assertEquals(List.of(known), find(keys, known));
    Object current = keys.current();
    for (int search = 0; search < 20; search++) {
      assertEquals(List.of(), find(keys, next));
    }

    assertEquals(2, provider.fetches());
    assertSame(current, keys.current());
  }

  @Test
  void current_keys_are_another_object_as_soon_as_the_provider_has_others() throws Exception {
    ProviderKeys keys = keys(LIFETIME);
    Object none = keys.current();
    find(keys, known);
    Object first = keys.current();
    assertNotSame(none, first);
    provider.publish(known, next);

    assertEquals(List.of(next), find(keys, next));
    assertNotSame(first, keys.current());
  }

  @Test
  void provider_that_comes_back_is_asked_again() throws Exception {
    ProviderKeys keys = keys(SHORT_LIFETIME);
    provider.goDown();
    assertThrows(KeySourceException.class, () -> find(keys, known));
    provider.comeBack();

    while (!knows(keys, known)) {
      LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
    }
    assertEquals(List.of(), find(keys, next));
  }

  @Test
  void provider_that_is_down_is_asked_twice_in_a_60th_of_the_lifetime() throws Exception {
    Duration window = Duration.ofMillis(500);
    ProviderKeys keys = keys(window.multipliedBy(60));
    provider.goDown();
    long start = System.nanoTime();

    while (System.nanoTime() - start < 3 * window.toNanos() || provider.fetches() <= 2) {
      assertThrows(KeySourceException.class, () -> find(keys, known));
    }

    // From a window's end to the next one's begin, so that a busy machine may take its time.
    int fetches = provider.fetches();
    long windows = (System.nanoTime() - start) / window.toNanos() + 1;
    assertTrue(fetches <= 2 * windows, fetches + " fetches in " + windows + " windows");
  }

  @Test
  void searches_that_wait_are_bounded_and_keep_no_known_key_waiting() throws Exception {
    ProviderKeys keys = new ProviderKeys(URI.create(provider.url()).toURL(), LIFETIME, 1, executor);
    assertEquals(List.of(known), find(keys, known));
    provider.drip();
    Future<List<JWK>> search = executor.submit(() -> find(keys, next));
    while (provider.fetches() == 1) {
      LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
    }

    RefusedException refusal = assertThrows(RefusedException.class, () -> find(keys, next));
    assertEquals(ErrorNumber.OVERLOADED, refusal.error());
    assertEquals(List.of(known), find(keys, known));
    assertFalse(search.isDone(), "the search still waits");

    assertThrows(Exception.class, () -> search.get(30, TimeUnit.SECONDS));
    assertThrows(KeySourceException.class, () -> find(keys, next));
  }

  private ProviderKeys keys(Duration lifetime) throws Exception {
    return new ProviderKeys(URI.create(provider.url()).toURL(), lifetime, 100, executor);
  }

  private static boolean knows(ProviderKeys keys, JWK key) {
    try {
      return !find(keys, key).isEmpty();
    } catch (KeySourceException e) {
      return false;
    }
  }

  private static List<JWK> find(ProviderKeys keys, JWK key) throws KeySourceException {
    return keys.get(new JWKSelector(new JWKMatcher.Builder().keyID(key.getKeyID()).build()), null);
  }
}
