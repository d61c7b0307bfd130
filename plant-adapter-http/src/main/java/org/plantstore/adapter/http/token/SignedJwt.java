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
import org.plantstore.adapter.http.error.Legible;

/**
 * A JWT in compact form (RFC 7515, section 7.1) whose signature has not been verified yet. The
 * Nimbus class {@code SignedJWT} is not used, because it rejects tokens in which a member that this
 * service ignores, such as {@code iat} or {@code x5c}, has the wrong type.
 *
 * @param header the header, reduced to the algorithm and the key ID ({@code kid})
 * @param input the signed text: the encoded header, a dot, and the encoded claims
 */
record SignedJwt(JWSHeader header, Map<?, ?> claims, String input, Base64URL signature) {

  private static final Pattern COMPACT = Pattern.compile("[\\w-]++\\.[\\w-]++\\.[\\w-]++");
  private static final Pattern INVALID_CHARACTER = Pattern.compile("[^\\w.-]");

  /**
   * Matches the values of {@code typ} that identify access tokens (RFC 7515, section 4.1.9; RFC
   * 9068). SPIFFE also uses {@code JOSE}. Tokens of other types, such as logout tokens, do not
   * grant access. Nimbus is not used to compare types, because the result would depend on the
   * default locale.
   */
  private static final Pattern TYPE = Pattern.compile("(?i)(application/)?((at\\+)?jwt|jose)");

  private static final List<JWSAlgorithm> ALGORITHMS =
      Stream.concat(JWSAlgorithm.Family.HMAC_SHA.stream(), PublishedKey.ALGORITHMS.stream())
          .toList();

  /**
   * Creates JSON parsers that reject duplicate members. The parsers do not limit the length of
   * numbers, because the limit on the size of request headers already limits the length of a token.
   */
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          // If the parser cached member names, callers could exhaust the memory with new names.
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .streamReadConstraints(
              StreamReadConstraints.builder().maxNumberLength(Integer.MAX_VALUE).build())
          .build();

  /** Parses a token; throws InvalidTokenException if its format, header, or payload is invalid. */
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
    Matcher invalid = INVALID_CHARACTER.matcher(text);
    if (invalid.find()) {
      return ("The bearer token must be a signed JWT, but contains %s at position %s; send only the"
              + " access token, unchanged, without quotation marks or a second \"Bearer\".")
          .formatted(Legible.quoted(invalid.group()), invalid.start() + 1);
    }
    String[] parts = text.split("\\.", -1);
    String found =
        switch (parts.length) {
          case 1 -> "has no dots, so it is opaque, a placeholder, or incomplete";
          case 3 -> "has no " + (parts[2].isEmpty() ? "signature" : "header or payload");
          case 5 -> "is encrypted (JWE)";
          default -> "has " + parts.length + " parts instead of 3";
        };
    return "The bearer token must be a signed JWT, but "
        + found
        + "; send the complete access token, or ask its issuer for a signed JWT.";
  }

  private static Map<?, ?> object(String part, String encoded) {
    try (JsonParser parser = JSON.createParser(new Base64URL(encoded).decodeToString())) {
      Object value = JsonNodeTreeCodec.getInstance().readTree(parser).getValue();
      if (value instanceof Map<?, ?> object && parser.nextToken() == null) {
        return object;
      }
    } catch (IOException | RuntimeException e) {
      // The exception's message is ignored, because it may quote the token.
    }
    throw new InvalidTokenException(
        "The "
            + part
            + " of the bearer token must be a JSON object without repeated members;"
            + " obtain a new token, and send it unchanged.");
  }

  private static JWSHeader header(Map<?, ?> members) {
    Object name = members.get("alg");
    Optional<JWSAlgorithm> algorithm =
        ALGORITHMS.stream().filter(each -> each.getName().equals(name)).findFirst();
    require(
        algorithm.isPresent(),
        "The algorithm (alg) of the bearer token is not supported; obtain a token that is signed"
            + " with another algorithm, such as RS256.",
        "one of " + ALGORITHMS,
        name);
    Object type = members.get("typ");
    require(
        type == null || (type instanceof String text && TYPE.matcher(text).matches()),
        "The type (typ) of the bearer token does not identify an access token; send an access"
            + " token.",
        "JWT, at+jwt, or JOSE",
        type);
    Object critical = members.get("crit"); // RFC 7515, section 4.1.11
    require(
        critical == null,
        "The bearer token requires extensions (crit), but this service supports none; obtain a"
            + " token without extensions.",
        "none",
        critical);
    Object keyId = members.get("kid");
    require(
        keyId == null || keyId instanceof String,
        "The key ID (kid) of the bearer token must be a string; obtain a token whose key ID is a"
            + " string.",
        "a string",
        keyId);
    return new JWSHeader.Builder(algorithm.get()).keyID((String) keyId).build();
  }

  /** Returns the expiration time of a token that is known to contain one. */
  Instant expires() {
    return Objects.requireNonNull(time("exp"));
  }

  /** Returns the time in a claim such as {@code exp}, or null if the claim is absent. */
  @Nullable Instant time(String claim) {
    Object value = claims.get(claim);
    if (value instanceof Number seconds) {
      return Instant.ofEpochMilli((long) (seconds.doubleValue() * 1_000));
    }
    require(
        value == null,
        "The times in the bearer token (exp and nbf) must be numbers; obtain a token that specifies"
            + " them in seconds.",
        "a number in " + claim,
        value);
    return null;
  }
}
