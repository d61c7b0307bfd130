package org.plantstore.adapter.http.token;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What happens to the keys as time passes. */
class ProviderKeysTest {

  private static final Duration CACHE_TIME = Duration.ofMillis(500);

  private static ECKey known;
  private static ECKey next;

  @BeforeAll
  static void generateKeys() throws JOSEException {
    known = new ECKeyGenerator(Curve.P_256).keyID("known").generate().toPublicJWK();
    next = new ECKeyGenerator(Curve.P_256).keyID("next").generate().toPublicJWK();
  }

  @Test
  @Timeout(30)
  void known_key_outlives_the_cache_while_the_provider_is_down() throws Exception {
    try (IdentityProvider provider = new IdentityProvider(known);
        ProviderKeys keys = keys(provider.url())) {
      assertEquals(List.of(known), find(keys, known));
      provider.goDown();
      int fetchesBefore = provider.fetches();

      for (long end = System.nanoTime() + CACHE_TIME.multipliedBy(5).toNanos();
          System.nanoTime() < end; ) {
        assertEquals(List.of(known), find(keys, known));
        LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
      }

      assertTrue(provider.fetches() > fetchesBefore, "the provider was asked while it was down");
      assertThrows(KeySourceException.class, () -> find(keys, next));
    }
  }

  @Test
  @Timeout(30)
  void key_that_the_provider_withdraws_is_forgotten() throws Exception {
    try (IdentityProvider provider = new IdentityProvider(known);
        ProviderKeys keys = keys(provider.url())) {
      assertEquals(List.of(known), find(keys, known));
      provider.publish(next);

      while (!find(keys, known).isEmpty()) {
        LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
      }

      assertEquals(List.of(next), find(keys, next));
    }
  }

  @Test
  @Timeout(30)
  void provider_that_comes_back_is_asked_again() throws Exception {
    try (IdentityProvider provider = new IdentityProvider(known);
        ProviderKeys keys = keys(provider.url())) {
      provider.goDown();
      assertThrows(KeySourceException.class, () -> find(keys, known));
      provider.comeBack();

      while (!knows(keys, known)) {
        LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
      }
      assertEquals(List.of(), find(keys, next));
    }
  }

  @Test
  @Timeout(30)
  void provider_that_is_down_is_asked_twice_in_a_window() throws Exception {
    Duration window = Duration.ofMillis(500);
    try (IdentityProvider provider = new IdentityProvider(known);
        ProviderKeys keys =
            new ProviderKeys(URI.create(provider.url()).toURL(), window.multipliedBy(60))) {
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
  }

  @Test
  @Timeout(30)
  void provider_that_never_answers_is_down() throws Exception {
    try (ServerSocket silent = new ServerSocket(0);
        ProviderKeys keys = keys("http://localhost:" + silent.getLocalPort() + "/keys")) {
      long start = System.nanoTime();

      assertThrows(KeySourceException.class, () -> find(keys, known));

      Duration waited = Duration.ofNanos(System.nanoTime() - start);
      assertTrue(waited.compareTo(Duration.ofSeconds(10)) < 0, "waited " + waited);
    }
  }

  @Test
  @Timeout(60)
  void provider_that_drips_keeps_known_keys_working() throws Exception {
    try (IdentityProvider provider = new IdentityProvider(known);
        ProviderKeys keys = keys(provider.url())) {
      assertEquals(List.of(known), find(keys, known));
      provider.drip();
      Duration slowest = Duration.ZERO;

      for (long end = System.nanoTime() + Duration.ofSeconds(6).toNanos();
          System.nanoTime() < end; ) {
        long start = System.nanoTime();
        assertEquals(List.of(known), find(keys, known));
        Duration elapsed = Duration.ofNanos(System.nanoTime() - start);
        slowest = elapsed.compareTo(slowest) > 0 ? elapsed : slowest;
      }

      assertTrue(slowest.compareTo(Duration.ofSeconds(5)) < 0, "waited " + slowest);
      assertTrue(provider.fetches() > 1, "fetched again");
    }
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

  private static ProviderKeys keys(String url) throws Exception {
    return new ProviderKeys(URI.create(url).toURL(), CACHE_TIME);
  }
}
