package org.plantstore.adapter.http.token;

import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyOperation;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.source.JWKSetCacheRefreshEvaluator;
import com.nimbusds.jose.jwk.source.JWKSetRetrievalException;
import com.nimbusds.jose.jwk.source.JWKSetSource;
import com.nimbusds.jose.jwk.source.JWKSetUnavailableException;
import com.nimbusds.jose.jwk.source.RateLimitReachedException;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jose.util.JSONObjectUtils;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches the key set of an identity provider, within a time and a size that a provider cannot
 * stretch, and remembers whether that worked. Safe for use by many threads.
 */
final class ProviderKeySet implements JWKSetSource<SecurityContext> {

  /** Bounds a fetch as a whole, however slowly the answer drips in. */
  static final Duration TIMEOUT = Duration.ofSeconds(2);

  private static final Logger LOG = LoggerFactory.getLogger(ProviderKeySet.class);
  private static final int MAX_BYTES = 256 * 1024;

  /** Two, so that a key which is published after a fetch is found at once. */
  private static final int MAX_FETCHES_IN_WINDOW = 2;

  private static final int MAX_REASON_CHARACTERS = 200;

  /** A token that names no key may be checked with each of them. */
  private static final int MAX_KEYS = 100;

  /** RFC 7518, sections 3.3 and 3.5. */
  private static final int MIN_RSA_BITS = 2048;

  private final HttpClient client =
      HttpClient.newBuilder()
          .connectTimeout(TIMEOUT)
          .followRedirects(HttpClient.Redirect.NORMAL)
          .build();
  private final URI address;
  private final Duration window;
  private final Deque<Long> fetchedAtNanos = new ArrayDeque<>();
  private volatile boolean down = true;
  private volatile JWKSet lastFetched = new JWKSet();

  /**
   * Makes the source, without fetching anything yet.
   *
   * @param address where the key set is
   * @param window the time within which no more than two fetches begin
   */
  ProviderKeySet(URL address, Duration window) {
    this.address = URI.create(address.toString());
    this.window = window;
  }

  /** Says whether the last fetch has failed, or none has ended yet. */
  boolean isDown() {
    return down;
  }

  /** Answers the last key set that could be fetched, an empty one if none could. */
  JWKSet lastFetched() {
    return lastFetched;
  }

  @Override
  public JWKSet getJWKSet(
      JWKSetCacheRefreshEvaluator refreshEvaluator,
      long currentTime,
      @Nullable SecurityContext context)
      throws JWKSetUnavailableException, RateLimitReachedException {
    countFetch();
    try {
      JWKSet fetched = usableKeysOf(fetch());
      lastFetched = fetched;
      down = false;
      return fetched;
    } catch (IOException | ParseException e) {
      down = true;
      LOG.warn("The key set at JWT_JWKS_URL cannot be fetched: {}", legible(e.toString()));
      throw new JWKSetRetrievalException("the key set cannot be fetched", e);
    }
  }

  private synchronized void countFetch() throws RateLimitReachedException {
    long now = System.nanoTime();
    fetchedAtNanos.removeIf(then -> now - then >= window.toNanos());
    if (fetchedAtNanos.size() == MAX_FETCHES_IN_WINDOW) {
      throw new RateLimitReachedException();
    }
    fetchedAtNanos.add(now);
  }

  private String fetch() throws IOException {
    Body body = new Body();
    CompletableFuture<HttpResponse<Void>> answer =
        client.sendAsync(
            HttpRequest.newBuilder(address).header("Accept", "application/json").build(),
            HttpResponse.BodyHandlers.ofByteArrayConsumer(part -> part.ifPresent(body::add)));
    try {
      int status = answer.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS).statusCode();
      if (status != 200) {
        throw new IOException("the answer has the status " + status);
      }
      return body.text();
    } catch (TimeoutException e) {
      throw new IOException("no whole answer within " + TIMEOUT.toSeconds() + " s", e);
    } catch (ExecutionException e) {
      throw new IOException(String.valueOf(e.getCause()), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } finally {
      answer.cancel(true);
    }
  }

  /** RFC 7517, section 5: a key that cannot be used is left out, and spoils no other. */
  private static JWKSet usableKeysOf(String text) throws ParseException {
    Map<String, Object>[] keys =
        JSONObjectUtils.getJSONObjectArray(JSONObjectUtils.parse(text), "keys");
    if (keys == null) {
      throw new ParseException("there is no member \"keys\"", 0);
    }
    if (keys.length > MAX_KEYS) {
      throw new ParseException("there are more than " + MAX_KEYS + " keys", 0);
    }
    List<JWK> usable = new ArrayList<>();
    List<String> reasons = new ArrayList<>();
    for (Map<String, Object> key : keys) {
      try {
        JWK parsed = JWK.parse(key);
        if (isUsable(parsed)) {
          usable.add(parsed);
        }
      } catch (ParseException | RuntimeException e) {
        reasons.add(String.valueOf(e.getMessage()));
      }
    }
    if (!reasons.isEmpty()) {
      LOG.warn(
          "The key set at JWT_JWKS_URL has keys that are left out, {} of {}, the first because of: {}",
          reasons.size(),
          keys.length,
          legible(reasons.get(0)));
    }
    return new JWKSet(usable);
  }

  /** What a provider says must not look like lines of this service, nor fill the disk. */
  private static String legible(String reason) {
    String bounded = reason.substring(0, Math.min(reason.length(), MAX_REASON_CHARACTERS));
    return bounded.replaceAll("[^ -~]", "?");
  }

  /** Whoever has seen a private key could sign with it, so one that is published is worthless. */
  private static boolean isUsable(JWK key) {
    return !key.isPrivate()
        && (key.getKeyOperations() == null || key.getKeyOperations().contains(KeyOperation.VERIFY))
        && !(key instanceof RSAKey rsa && rsa.size() < MIN_RSA_BITS);
  }

  @Override
  public void close() {
    // The client ends with the last reference to it.
  }

  private static final class Body {

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    synchronized void add(byte[] part) {
      if (bytes.size() + part.length > MAX_BYTES) {
        throw new IllegalStateException("the key set has more than " + MAX_BYTES + " bytes");
      }
      bytes.writeBytes(part);
    }

    synchronized String text() {
      return bytes.toString(StandardCharsets.UTF_8);
    }
  }
}
