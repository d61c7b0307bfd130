package org.plantstore.adapter.http.token;

import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyOperation;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.source.JWKSetCacheRefreshEvaluator;
import com.nimbusds.jose.jwk.source.JWKSetRetrievalException;
import com.nimbusds.jose.jwk.source.JWKSetSource;
import com.nimbusds.jose.jwk.source.JWKSetUnavailableException;
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
import java.util.ArrayList;
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
 * stretch: the library's own client bounds each read, not all of them together. Safe for use by
 * many threads.
 */
final class ProviderKeySet implements JWKSetSource<SecurityContext> {

  /** Bounds a fetch as a whole, however slowly the answer drips in. */
  static final Duration TIMEOUT = Duration.ofSeconds(2);

  private static final Logger LOG = LoggerFactory.getLogger(ProviderKeySet.class);
  private static final int MAX_BYTES = 256 * 1024;
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
  private final HttpRequest request;
  private volatile boolean down = true;
  private volatile JWKSet known = new JWKSet();

  /** Creates the source, without fetching anything yet. */
  ProviderKeySet(URL url) {
    request =
        HttpRequest.newBuilder(URI.create(url.toString()))
            .header("Accept", "application/json")
            .build();
  }

  /** Returns whether the last fetch has failed, or none has ended yet. */
  boolean isDown() {
    return down;
  }

  /** Returns the last key set that was fetched, an empty one if none was. */
  JWKSet known() {
    return known;
  }

  @Override
  public JWKSet getJWKSet(
      JWKSetCacheRefreshEvaluator refreshEvaluator,
      long currentTime,
      @Nullable SecurityContext context)
      throws JWKSetUnavailableException {
    try {
      JWKSet fetched = usableKeysOf(fetch());
      if (!fetched.equals(known)) {
        known = fetched;
      }
      down = false;
      return fetched;
    } catch (IOException | ParseException e) {
      down = true;
      LOG.warn("The key set at JWT_JWKS_URL cannot be fetched: {}", legible(e.toString()));
      throw new JWKSetRetrievalException("the key set cannot be fetched", e);
    }
  }

  private String fetch() throws IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    CompletableFuture<HttpResponse<Void>> answer =
        client.sendAsync(
            request,
            HttpResponse.BodyHandlers.ofByteArrayConsumer(
                part -> part.ifPresent(bytes -> append(bytes, body))));
    try {
      int status = answer.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS).statusCode();
      if (status != 200) {
        throw new IOException("the answer has the status " + status);
      }
      return body.toString(StandardCharsets.UTF_8);
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

  private static void append(byte[] part, ByteArrayOutputStream body) {
    if (body.size() + part.length > MAX_BYTES) {
      throw new IllegalStateException("the key set has more than " + MAX_BYTES + " bytes");
    }
    body.writeBytes(part);
  }

  /** Returns the keys without those that cannot be used (RFC 7517, section 5). */
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

  /**
   * Returns text of a provider so that it neither looks like log lines of this service nor is long.
   */
  private static String legible(String reason) {
    String bounded = reason.substring(0, Math.min(reason.length(), MAX_REASON_CHARACTERS));
    return bounded.replaceAll("[^ -~]", "?");
  }

  /**
   * Returns whether tokens may be checked with a key; with a published private key all can sign.
   */
  private static boolean isUsable(JWK key) {
    return !key.isPrivate()
        && (key.getKeyOperations() == null || key.getKeyOperations().contains(KeyOperation.VERIFY))
        && !(key instanceof RSAKey rsa && rsa.size() < MIN_RSA_BITS);
  }

  @Override
  public void close() {
    // The client ends with the last reference to it.
  }
}
