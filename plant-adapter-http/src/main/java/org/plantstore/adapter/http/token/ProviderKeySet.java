package org.plantstore.adapter.http.token;

import static java.util.stream.Collectors.joining;

import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyType;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.util.JSONObjectUtils;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.zip.GZIPInputStream;
import javax.net.ssl.SSLException;

/**
 * Fetches the key set of an identity provider. Bounds the time and the size of a whole fetch; the
 * library's own client bounds only the time of each read. Immutable.
 */
final class ProviderKeySet {

  private static final Duration TIMEOUT = Duration.ofSeconds(2);
  private static final int MAX_BYTES = 256 * 1024;
  private static final int MAX_REDIRECTS = 5;

  /** A token that names no key may be checked with each of them. */
  private static final int MAX_KEYS = 100;

  /** A fault in another member, such as {@code x5c}, does not make a key unusable. */
  private static final List<String> READ_MEMBERS =
      List.of("kty use key_ops alg kid crv x y n e d p q dp dq qi oth k".split(" "));

  /** RFC 7518, sections 3.3 and 3.5. */
  private static final int MIN_RSA_BITS = 2048;

  /** HTTP/2 would be offered as an upgrade, which some servers refuse. Follows no redirects. */
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final URI address;

  ProviderKeySet(URI address) {
    this.address = address;
  }

  /**
   * Returns which keys may verify a token. A key without {@code kid}, which is optional (RFC 7517,
   * section 4.5), may verify any token. Published private keys do not match: anyone could sign with
   * them.
   */
  static JWKMatcher matcher(JWSHeader header) {
    JWKMatcher.Builder matcher =
        new JWKMatcher.Builder()
            .keyType(KeyType.forAlgorithm(header.getAlgorithm()))
            .curves(Curve.forJWSAlgorithm(header.getAlgorithm()))
            .keyUses(KeyUse.SIGNATURE, null)
            .algorithms(header.getAlgorithm(), null)
            .publicOnly(true);
    return (header.getKeyID() == null ? matcher : matcher.keyIDs(header.getKeyID(), null)).build();
  }

  /** Fetches the key set; throws IOException with host, port and remedy if no key is usable. */
  Fetched fetch() throws IOException {
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    URI target = address;
    try {
      for (int redirects = 0; ; redirects++) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        HttpResponse<Void> answer = send(target, body, deadline - System.nanoTime());
        String location = answer.headers().firstValue("Location").orElse("");
        if (answer.statusCode() / 100 != 3 || location.isEmpty()) {
          require(answer.statusCode() == 200, "the status is \"" + answer.statusCode() + "\"");
          return usableKeys(decoded(answer, body.toByteArray()));
        }
        target = redirected(target, location, redirects);
      }
    } catch (IOException | ParseException | RuntimeException | StackOverflowError e) {
      int port = target.getPort() < 0 ? target.toURL().getDefaultPort() : target.getPort();
      Throwable cause = Objects.requireNonNullElse(e.getCause(), e);
      throw new IOException(quoted(target.getHost() + ":" + port) + " " + reason(cause), e);
    }
  }

  private HttpResponse<Void> send(URI target, ByteArrayOutputStream body, long nanos) {
    CompletableFuture<HttpResponse<Void>> answer =
        client.sendAsync(
            HttpRequest.newBuilder(target).header("Accept-Encoding", "identity").build(),
            HttpResponse.BodyHandlers.ofByteArrayConsumer(
                part -> part.ifPresent(bytes -> append(bytes, body))));
    try {
      return answer.copy().orTimeout(nanos, TimeUnit.NANOSECONDS).join();
    } finally {
      answer.cancel(true);
    }
  }

  private static void append(byte[] part, ByteArrayOutputStream body) {
    if (body.size() + part.length > MAX_BYTES) {
      throw new IllegalStateException("it has more than " + MAX_BYTES + " bytes");
    }
    body.writeBytes(part);
  }

  static URI redirected(URI from, String location, int redirects) throws ParseException {
    // RFC 3986, section 5.2.2: a query of its own keeps the path, unlike in URI.resolve.
    URI to = from.resolve(location.startsWith("?") ? from.getRawPath() + location : location);
    boolean isFollowed =
        redirects < MAX_REDIRECTS
            && from.getHost().equalsIgnoreCase(to.getHost())
            && to.getRawUserInfo() == null
            && (from.getScheme().equalsIgnoreCase(to.getScheme())
                || "https".equalsIgnoreCase(to.getScheme()));
    String shown = quoted(to.toString().replaceAll("(?<=//)[^/]*@|[?#].*", ""));
    require(isFollowed, "it redirects to " + shown + "; if that is right, set JWT_JWKS_URL to it");
    return to;
  }

  /** Some providers compress a key set although they were asked not to. */
  private static String decoded(HttpResponse<?> answer, byte[] body)
      throws IOException, ParseException {
    String coding = String.join(",", answer.headers().allValues("Content-Encoding"));
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    if (coding.matches("(?i)(x-)?gzip")) {
      append(new GZIPInputStream(new ByteArrayInputStream(body)).readNBytes(MAX_BYTES + 1), text);
    } else {
      require(coding.matches("(?i)(identity)?"), "its coding is " + quoted(coding));
      append(body, text);
    }
    return text.toString(StandardCharsets.UTF_8);
  }

  /** Returns what failed and what to check; the client's own exceptions may have no message. */
  private static String reason(Throwable failure) {
    if (failure instanceof TimeoutException) {
      String limit = TIMEOUT.toSeconds() + " s";
      return "sends no whole answer within " + limit + "; check firewalls and the provider";
    }
    if (failure instanceof ConnectException) {
      return failure.getCause() instanceof UnresolvedAddressException
          ? "is an unknown host; check the name and the DNS"
          : "refuses the connection; check the port and the provider";
    }
    String advice =
        failure instanceof SSLException
            ? "fails in TLS; check the certificate and the trusted authorities: "
            : "sends no usable key set; check the address and the provider: ";
    return advice
        + printable(Objects.requireNonNullElse(failure.getMessage(), "it ends early"), 1_000);
  }

  /** Returns the beginning of a foreign text as a short line of printable characters. */
  static String printable(String text, int maxCharacters) {
    String line = text.replaceAll("[^ -~]", "?");
    return line.substring(0, Math.min(line.length(), maxCharacters));
  }

  private static String quoted(String text) {
    return '"' + printable(text, 200).replace('"', '?') + '"';
  }

  private static void require(boolean isMet, String otherwise) throws ParseException {
    if (!isMet) {
      throw new ParseException(otherwise, 0);
    }
  }

  /** Returns the usable keys; other keys are ignored (RFC 7517, section 5). */
  private static Fetched usableKeys(String text) throws ParseException {
    List<Object> keys = JSONObjectUtils.getJSONArray(JSONObjectUtils.parse(text), "keys");
    if (keys == null || keys.size() > MAX_KEYS) {
      throw new ParseException("there must be \"keys\", at most " + MAX_KEYS, 0);
    }
    List<JWK> usable = new ArrayList<>();
    List<String> leftOut = new ArrayList<>();
    for (int place = 0; place < keys.size(); place++) {
      Map<String, Object> members = new HashMap<>();
      if (keys.get(place) instanceof Map<?, ?> object) {
        READ_MEMBERS.forEach(name -> members.put(name, object.get(name)));
      }
      try {
        if (!"enc".equals(members.get("use"))) {
          usable.add(usable(members));
        }
      } catch (ParseException | RuntimeException e) {
        String id = members.get("kid") instanceof String kid ? quoted(kid) : "keys[" + place + "]";
        leftOut.add(id + ": " + printable(String.valueOf(e.getMessage()), 100));
      }
    }
    Fetched fetched = new Fetched(new JWKSet(usable), leftOut);
    require(!usable.isEmpty(), "let the provider sign with an RS, PS or ES algorithm; " + fetched);
    return fetched;
  }

  /** Returns the key; throws ParseException with the reason if it verifies no tokens. */
  private static JWK usable(Map<String, Object> members) throws ParseException {
    require(!members.isEmpty(), "it is no object");
    Object operations = members.remove("key_ops");
    require(
        operations == null || (operations instanceof List<?> known && known.contains("verify")),
        "its key_ops have no \"verify\"");
    JWK key = JWK.parse(members);
    require(!key.isPrivate(), "it is no public key");
    boolean isLarge = !(key instanceof RSAKey) || key.size() >= MIN_RSA_BITS;
    require(isLarge, "it must have " + MIN_RSA_BITS + " bits, but has " + key.size());
    boolean isVerifying =
        TokenValidation.PUBLIC_KEY_ALGORITHMS.stream()
            .anyMatch(algorithm -> matcher(new JWSHeader(algorithm)).matches(key));
    require(isVerifying, "its kty, crv, use and alg fit no RS, PS or ES algorithm");
    return key;
  }

  /** The keys that can verify tokens, and the ids or places of the others with the reasons. */
  record Fetched(JWKSet usable, List<String> leftOut) {

    /** Returns the number of keys of both kinds, and the first five reasons. */
    @Override
    public String toString() {
      String count = usable.size() == 1 ? "1 usable key, " : usable.size() + " usable keys, ";
      String reasons = leftOut.stream().limit(5).map("; "::concat).collect(joining());
      return count + leftOut.size() + " left out" + reasons;
    }
  }
}
