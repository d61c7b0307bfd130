package org.plantstore.adapter.http.token;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import javax.crypto.spec.SecretKeySpec;

/**
 * The {@code token} command, which prints a token that the service accepts. The token is signed
 * with the last of the configured secrets. The service loads this class as a {@link ToolProvider}.
 */
public final class TokenCommand implements ToolProvider {

  @Override
  public String name() {
    return "token";
  }

  /**
   * Prints a token, and returns 0.
   *
   * @throws ConfigurationException if no secret is configured, or if an option or a setting is
   *     unusable
   */
  @Override
  public int run(PrintWriter out, PrintWriter err, String... arguments) {
    try (ApplicationContext context = ApplicationContext.builder().build()) {
      out.println(token(TokenSettings.of(context.getEnvironment().start()), arguments));
      return 0;
    }
  }

  static String token(TokenSettings settings, String... options) {
    List<SecretKeySpec> secrets = settings.secrets().keys();
    if (secrets.isEmpty()) {
      throw new ConfigurationException(
          "JWT_SECRET or JWT_SECRET_FILE must be set, but neither is; if tokens are signed"
              + " with a key from JWT_JWKS_URL, get a token from the identity provider");
    }
    SignedJWT token = new SignedJWT(new JWSHeader(JWSAlgorithm.HS256), claims(settings, options));
    try {
      token.sign(new MACSigner(secrets.get(secrets.size() - 1)));
      return token.serialize();
    } catch (JOSEException e) {
      throw new IllegalStateException(
          "signing failed, even though the secret has at least 32 bytes", e);
    }
  }

  private static JWTClaimsSet claims(TokenSettings settings, String... arguments) {
    Map<String, Set<String>> required = new HashMap<>();
    settings.issuers().stream().limit(1).forEach(issuer -> required.put("iss", Set.of(issuer)));
    settings.audiences().stream().limit(1).forEach(name -> add("aud", name, required));
    settings.requiredClaims().forEach(claim -> add(claim.name(), claim.values().get(0), required));
    JWTClaimsSet.Builder claims = new JWTClaimsSet.Builder();
    required.forEach((name, values) ->
        claims.claim(name, values.size() == 1 ? values.iterator().next() : List.copyOf(values)));
    values("subject", arguments).forEach(claims::subject);
    values("claim", arguments)
        .map(text -> RequiredClaim.claim("--claim", text))
        .forEach(claim -> claims.claim(claim.getKey(), claim.getValue()));
    String minutes = values("minutes", arguments).reduce("60", (first, last) -> last);
    if (!minutes.matches("[1-9][0-9]{0,5}")) {
      throw new ConfigurationException(
          "--minutes must be a whole number from 1 to 999999, but is \"" + minutes + '"');
    }
    Instant expires = Instant.now().plus(Duration.ofMinutes(Integer.parseInt(minutes)));
    return claims.claim("exp", expires.getEpochSecond()).build();
  }

  private static void add(String name, String value, Map<String, Set<String>> required) {
    required.computeIfAbsent(name, first -> new LinkedHashSet<>()).add(value);
  }

  private static Stream<String> values(String option, String... arguments) {
    String start = "--" + option + "=";
    return Stream.of(arguments)
        .filter(argument -> argument.startsWith(start))
        .map(argument -> argument.substring(start.length()));
  }
}
