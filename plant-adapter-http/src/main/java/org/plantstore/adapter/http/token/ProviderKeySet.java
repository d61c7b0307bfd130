package org.plantstore.adapter.http.token;

import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyOperation;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.source.JWKSetCacheRefreshEvaluator;
import com.nimbusds.jose.jwk.source.JWKSetRetrievalException;
import com.nimbusds.jose.jwk.source.JWKSetSource;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jose.util.DefaultResourceRetriever;
import com.nimbusds.jose.util.JSONObjectUtils;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URL;
import java.text.ParseException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches the key set of an identity provider: within a size, and with a time-out for each part of
 * the answer. Safe for use by many threads.
 */
final class ProviderKeySet implements JWKSetSource<SecurityContext> {

  /** For the connection, and for each part of the answer. */
  static final int TIMEOUT_MILLIS = 2_000;

  private static final Logger LOG = LoggerFactory.getLogger(ProviderKeySet.class);
  private static final int MAX_BYTES = 256 * 1024;
  private static final int MAX_LINE_CHARACTERS = 200;

  /** A token that names no key may be checked with each of them. */
  private static final int MAX_KEYS = 100;

  /** RFC 7518, sections 3.3 and 3.5. */
  private static final int MIN_RSA_BITS = 2048;

  private final DefaultResourceRetriever retriever =
      new DefaultResourceRetriever(TIMEOUT_MILLIS, TIMEOUT_MILLIS, MAX_BYTES + 1);
  private final URL url;
  private volatile boolean down = true; // until a fetch has succeeded
  private volatile JWKSet known = new JWKSet();

  ProviderKeySet(URL url) {
    this.url = url;
  }

  boolean isDown() {
    return down;
  }

  JWKSet known() {
    return known;
  }

  @Override
  public JWKSet getJWKSet(
      JWKSetCacheRefreshEvaluator evaluator, long now, @Nullable SecurityContext context)
      throws JWKSetRetrievalException {
    try {
      Fetched fetched = fetch();
      if (fetched.leftOut > 0) {
        LOG.warn(
            "The key set at JWT_JWKS_URL has keys that are left out, {} of {}",
            fetched.leftOut,
            fetched.leftOut + fetched.usable.size());
      }
      if (!fetched.usable.equals(known)) {
        known = fetched.usable;
      }
      down = false;
      return fetched.usable;
    } catch (IOException | ParseException e) {
      down = true;
      LOG.warn("The key set at JWT_JWKS_URL cannot be fetched: {}", reason(e));
      throw new JWKSetRetrievalException("the key set cannot be fetched", e);
    }
  }

  /**
   * Returns what others say as a part of one line: it must not look like another, nor fill the
   * disk.
   */
  static String printable(String text) {
    String line = text.replaceAll("[^ -~]", "?");
    return line.substring(0, Math.min(line.length(), MAX_LINE_CHARACTERS));
  }

  /**
   * Fetches the key set.
   *
   * @throws IOException if there is no answer with the status 200, or not in time
   * @throws ParseException if the answer is not a key set
   */
  Fetched fetch() throws IOException, ParseException {
    return usableKeys(retriever.retrieveResource(url).getContent());
  }

  /** Returns why a fetch failed, in a line without the address, whose query may be secret. */
  static String reason(Exception failure) {
    return failure instanceof FileNotFoundException
        ? "the answer has the status 404 or 410"
        : printable(String.valueOf(failure.getMessage()).replaceFirst(" for URL: .*", ""));
  }

  /** Returns the keys without those that cannot be used (RFC 7517, section 5). */
  private static Fetched usableKeys(String text) throws ParseException {
    Map<String, Object>[] keys =
        JSONObjectUtils.getJSONObjectArray(JSONObjectUtils.parse(text), "keys");
    if (keys == null || keys.length > MAX_KEYS) {
      throw new ParseException("there must be \"keys\", at most " + MAX_KEYS, 0);
    }
    List<JWK> usable = Arrays.stream(keys).flatMap(ProviderKeySet::usable).toList();
    return new Fetched(new JWKSet(usable), keys.length - usable.size());
  }

  /** Returns the key, if it may be used: with a private one that is published anybody can sign. */
  private static Stream<JWK> usable(Map<String, Object> description) {
    try {
      JWK key = JWK.parse(description);
      Set<KeyOperation> operations = key.getKeyOperations();
      boolean isUsable =
          !key.isPrivate()
              && (operations == null || operations.contains(KeyOperation.VERIFY))
              && !(key instanceof RSAKey rsa && rsa.size() < MIN_RSA_BITS);
      return isUsable ? Stream.of(key) : Stream.empty();
    } catch (ParseException | RuntimeException e) {
      return Stream.empty();
    }
  }

  @Override
  public void close() {}

  /**
   * A key set as the provider answered with it.
   *
   * @param usable the keys that may verify signatures
   * @param leftOut the number of the others
   */
  record Fetched(JWKSet usable, int leftOut) {}
}
