package org.plantstore.adapter.http.token;

import static org.plantstore.adapter.http.token.InvalidTokenException.require;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.util.Base64URL;
import io.micronaut.jackson.core.tree.JsonNodeTreeCodec;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A JWT in its compact form (RFC 7515, section 7.1), before its signature is verified. The
 * library's parser would refuse tokens because of members that decide nothing here, such as {@code
 * iat} or {@code x5c}; this one reads only the members that decide.
 *
 * @param header the algorithm and the {@code kid}, without other members
 * @param input what is signed
 */
record SignedJwt(JWSHeader header, Map<?, ?> claims, String input, Base64URL signature) {

  static final String QUOTES = "\"'`\u201C\u201D\u2018\u2019";

  private static final Pattern COMPACT = Pattern.compile("[\\w-]++\\.[\\w-]++\\.[\\w-]++");
  private static final Pattern FOREIGN = Pattern.compile("[^\\w.-]");
  private static final Pattern SCHEME = Pattern.compile("(?i)(authorization\\W+)?bearer\\b.*");

  /**
   * RFC 7515, section 4.1.9; SPIFFE's tokens may have {@code JOSE}. A token of another type, such
   * as a log-out token, gives no access. The library's comparison depends on the default locale.
   */
  private static final Pattern TYPE = Pattern.compile("(?i)(application/)?((at\\+)?jwt|jose)");

  private static final List<JWSAlgorithm> ALGORITHMS =
      Stream.concat(JWSAlgorithm.Family.HMAC_SHA.stream(), KeySet.ALGORITHMS.stream()).toList();

  /** Accepts numbers of any length, because the size of a request's head bounds them. */
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          // A cache of names would let callers fill the memory.
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .streamReadConstraints(
              StreamReadConstraints.builder().maxNumberLength(Integer.MAX_VALUE).build())
          .build();

  /** Reads a token; throws InvalidTokenException if its form or its header is invalid. */
  static SignedJwt parse(String text) {
    if (!COMPACT.matcher(text).matches()) {
      throw new InvalidTokenException(fault(text));
    }
    int firstDot = text.indexOf('.');
    int lastDot = text.lastIndexOf('.');
    return new SignedJwt(
        header(object("header", text.substring(0, firstDot))),
        object("payload", text.substring(firstDot + 1, lastDot)),
        text.substring(0, lastDot),
        new Base64URL(text.substring(lastDot + 1)));
  }

  private static String fault(String text) {
    if (text.isEmpty()) {
      return "The bearer token is missing.";
    }
    if (SCHEME.matcher(text).matches()) {
      return "The bearer token begins with the word \"Bearer\", which is not a part of it; remove"
          + " that word from the token.";
    }
    if (QUOTES.indexOf(text.charAt(0)) >= 0) {
      return "The bearer token is in quotes; remove them.";
    }
    Matcher foreign = FOREIGN.matcher(text);
    if (foreign.find()) {
      return ("The bearer token must be a signed JWT, but contains \"%s\" at position %s; send the"
              + " access token unchanged, and only once.")
          .formatted(foreign.group(), foreign.start() + 1);
    }
    String[] parts = text.split("\\.", -1);
    String found =
        switch (parts.length) {
          case 1 -> "has no dots, so it is opaque, a placeholder or incomplete";
          case 3 -> "has no " + (parts[2].isEmpty() ? "signature" : "header or payload");
          case 5 -> "is encrypted (JWE)";
          default -> "has " + parts.length + " parts instead of 3";
        };
    return "The bearer token must be a signed JWT, but "
        + found
        + "; send the whole access token, or ask its issuer for one that is a signed JWT.";
  }

  private static Map<?, ?> object(String part, String encoded) {
    try (JsonParser parser = JSON.createParser(new Base64URL(encoded).decodeToString())) {
      Object value = JsonNodeTreeCodec.getInstance().readTree(parser).getValue();
      if (value instanceof Map<?, ?> object && parser.nextToken() == null) {
        return object;
      }
    } catch (IOException | RuntimeException e) {
      // falls through, because the message may quote the token
    }
    throw new InvalidTokenException(
        "The "
            + part
            + " of the bearer token must be one JSON object without repeated members;"
            + " obtain a new token, and send it unchanged.");
  }

  private static JWSHeader header(Map<?, ?> members) {
    Object name = members.get("alg");
    Optional<JWSAlgorithm> algorithm =
        ALGORITHMS.stream().filter(each -> each.getName().equals(name)).findFirst();
    require(
        algorithm.isPresent(),
        "The algorithm (alg) of the bearer token is not supported; obtain one that is signed with"
            + " another algorithm.",
        "one of " + ALGORITHMS,
        name);
    Object type = members.get("typ");
    require(
        type == null || (type instanceof String text && TYPE.matcher(text).matches()),
        "The type (typ) of the bearer token is not that of an access token; send an access token.",
        "JWT, at+jwt or JOSE",
        type);
    Object critical = members.get("crit"); // RFC 7515, section 4.1.11
    require(
        critical == null,
        "The bearer token demands extensions (crit), of which this service supports none; obtain a"
            + " token without them.",
        "none",
        critical);
    Object keyId = members.get("kid");
    require(
        keyId == null || keyId instanceof String,
        "The key ID (kid) of the bearer token must be a string; obtain a token in which it is.",
        "a string",
        keyId);
    return new JWSHeader.Builder(algorithm.get()).keyID((String) keyId).build();
  }

  /** Returns when a valid token expires. */
  Instant expires() {
    return Objects.requireNonNull(time("exp"));
  }

  /** Returns the time of a claim such as {@code exp}, or null if the claim is absent. */
  @Nullable Instant time(String claim) {
    Object value = claims.get(claim);
    if (value instanceof Number seconds) {
      return Instant.ofEpochMilli((long) (seconds.doubleValue() * 1_000));
    }
    require(
        value == null,
        "The times (exp and nbf) of the bearer token must be numbers of seconds; obtain a token in"
            + " which they are.",
        "a number in " + claim,
        value);
    return null;
  }
}
