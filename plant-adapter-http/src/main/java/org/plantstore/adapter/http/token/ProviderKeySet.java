package org.plantstore.adapter.http.token;

import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyOperation;
import com.nimbusds.jose.jwk.RSAKey;
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
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * Fetches the key set of an identity provider. Bounds the time and the size of a whole fetch; the
 * library's own client bounds only the time of each read. Immutable.
 */
final class ProviderKeySet {

  private static final Duration TIMEOUT = Duration.ofSeconds(2);
  private static final int MAX_BYTES = 256 * 1024;
  private static final int MAX_LINE_CHARACTERS = 200;

  /** A token that names no key may be checked with each of them. */
  private static final int MAX_KEYS = 100;

  /** Published private keys do not match: anyone could sign with them. */
  private static final List<JWKMatcher> VERIFYING =
      TokenValidation.PUBLIC_KEY_ALGORITHMS.stream()
          .map(algorithm ->
              new JWKMatcher.Builder(JWKMatcher.forJWSHeader(new JWSHeader(algorithm)))
                  .curves(Curve.forJWSAlgorithm(algorithm))
                  .publicOnly(true)
                  .build())
          .toList();

  /** RFC 7518, sections 3.3 and 3.5. */
  private static final int MIN_RSA_BITS = 2048;

  private final HttpClient client =
      HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();
  private final HttpRequest request;

  ProviderKeySet(URL url) {
    request = HttpRequest.newBuilder(URI.create(url.toString())).build();
  }

  /** Fetches the key set; throws ParseException if the answer is not a key set. */
  Fetched fetch() throws IOException, ParseException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    CompletableFuture<HttpResponse<Void>> answer =
        client.sendAsync(
            request,
            HttpResponse.BodyHandlers.ofByteArrayConsumer(
                part -> part.ifPresent(bytes -> append(bytes, body))));
    try {
      HttpResponse<Void> end =
          answer.copy().orTimeout(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS).join();
      if (end.statusCode() != 200) {
        throw new IOException("the answer has the status " + end.statusCode());
      }
      return usableKeys(body.toString(StandardCharsets.UTF_8));
    } catch (CompletionException e) {
      throw new IOException(reason(Objects.requireNonNullElse(e.getCause(), e)), e);
    } finally {
      answer.cancel(true);
    }
  }

  /** Returns the reason of a failure in a short line of printable characters. */
  static String reason(Throwable failure) {
    String message =
        failure instanceof TimeoutException
            ? "there is no whole answer within " + TIMEOUT.toSeconds() + " s"
            : Objects.requireNonNullElse(failure.getMessage(), failure.toString());
    String line = message.replaceAll("[^ -~]", "?");
    return line.substring(0, Math.min(line.length(), MAX_LINE_CHARACTERS));
  }

  private static void append(byte[] part, ByteArrayOutputStream body) {
    if (body.size() + part.length > MAX_BYTES) {
      throw new IllegalStateException("the key set has more than " + MAX_BYTES + " bytes");
    }
    body.writeBytes(part);
  }

  /** Returns the usable keys; other keys are ignored (RFC 7517, section 5). */
  private static Fetched usableKeys(String text) throws ParseException {
    Map<String, Object>[] keys =
        JSONObjectUtils.getJSONObjectArray(JSONObjectUtils.parse(text), "keys");
    if (keys == null || keys.length > MAX_KEYS) {
      throw new ParseException("there must be \"keys\", at most " + MAX_KEYS, 0);
    }
    List<Map<String, Object>> forSignatures =
        Arrays.stream(keys).filter(key -> key == null || !"enc".equals(key.get("use"))).toList();
    List<JWK> usable = forSignatures.stream().flatMap(ProviderKeySet::usable).toList();
    return new Fetched(new JWKSet(usable), forSignatures.size() - usable.size());
  }

  private static Stream<JWK> usable(Map<String, Object> description) {
    try {
      JWK key = JWK.parse(description);
      Set<KeyOperation> operations = key.getKeyOperations();
      return Stream.of(key)
          .filter(known -> operations == null || operations.contains(KeyOperation.VERIFY))
          .filter(known -> !(known instanceof RSAKey rsa && rsa.size() < MIN_RSA_BITS))
          .filter(known -> VERIFYING.stream().anyMatch(matcher -> matcher.matches(known)));
    } catch (ParseException | RuntimeException e) {
      return Stream.empty();
    }
  }

  /** The keys that can verify tokens, and the number of other keys that are not for encryption. */
  record Fetched(JWKSet usable, int leftOut) {}
}
