package org.plantstore.adapter.http.token;

import static com.nimbusds.jose.JWSAlgorithm.HS256;
import static com.nimbusds.jose.JWSAlgorithm.HS384;
import static com.nimbusds.jose.JWSAlgorithm.HS512;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.util.Base64URL;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.annotation.Property;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import jakarta.inject.Inject;
import java.net.URI;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.Answer;
import org.plantstore.adapter.http.Tokens;

/** Which tokens are valid where the key is a secret. */
@MicronautTest
@Property(name = "jwt.secret", value = Tokens.SECRET)
@Property(name = "jwt.issuer", value = "https://issuer.example/")
@Property(name = "jwt.audience", value = "plants")
class SecretTokensTest {

  @Inject EmbeddedServer server;

  @Test
  void signed_unexpired_token_of_the_issuer_for_the_audience_is_valid() {
    assertValid(token(claims().build()));
    assertValid(token(claims().audience(List.of("others", "plants")).build()));
    assertValid(token(claims().subject(null).build()));
    assertValid(token(claims().claim("roles", 7).claim("nbf", null).build()));
  }

  @Test
  void token_of_any_length_is_valid() {
    for (int length = 0; length < 300; length++) {
      assertValid(token(claims().subject("x".repeat(length)).build()));
    }
  }

  @Test
  void key_id_and_type_of_an_access_token_are_no_obstacle() throws JOSEException {
    for (String type : List.of("JWT", "jwt", "at+jwt", "application/at+jwt")) {
      JWSHeader header =
          new JWSHeader.Builder(HS256).keyID("any").type(new JOSEObjectType(type)).build();
      assertValid(Tokens.signed(header, new MACSigner(Tokens.SECRET), claims().build()));
    }
  }

  @Test
  void token_of_another_type_is_invalid() throws JOSEException {
    JWSHeader header = new JWSHeader.Builder(HS256).type(new JOSEObjectType("logout+jwt")).build();
    assertInvalid(Tokens.signed(header, new MACSigner(Tokens.SECRET), claims().build()));
  }

  @Test
  void clocks_may_differ_by_30_seconds() {
    assertValid(token(claims().expirationTime(Tokens.in(Duration.ofSeconds(-20))).build()));
    assertInvalid(token(claims().expirationTime(Tokens.in(Duration.ofSeconds(-40))).build()));
    assertValid(token(claims().notBeforeTime(Tokens.in(Duration.ofSeconds(20))).build()));
    assertInvalid(token(claims().notBeforeTime(Tokens.in(Duration.ofSeconds(60))).build()));
  }

  @Test
  void token_that_never_expires_is_invalid() {
    assertInvalid(token(claims().expirationTime(null).build()));
    assertInvalid(signedPayload("{\"iss\":\"https://issuer.example/\",\"aud\":\"plants\"}"));
    assertInvalid(
        signedPayload("{\"iss\":\"https://issuer.example/\",\"aud\":\"plants\",\"exp\":null}"));
    assertInvalid(
        signedPayload("{\"iss\":\"https://issuer.example/\",\"aud\":\"plants\",\"exp\":\"2999\"}"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"exp\":null",
        "\"exp\":true",
        "\"exp\":[4102444800]",
        "\"exp\":{\"a\":1}",
        "\"exp\":\"4102444800\"",
        "\"exp\":0",
        "\"exp\":-1",
        "\"exp\":1.5e9",
        "\"exp\":1e400",
        "\"exp\":NaN",
        "\"exp\":Infinity",
        "\"exp\":04102444800",
        "\"exp\":9223372036854775807",
        "\"exp\":99999999999999999999",
        "\"exp\":-9223372036854775808",
        "\"exp\":4102444800,\"exp\":4102444800",
        "\"exp\":1,\"exp\":4102444800",
        "\"exp\":1,\"\\u0065xp\":4102444800",
        "\"exp\":4102444800,\"nbf\":4102444800",
        "\"exp\":4102444800,\"nbf\":9223372036854776",
        "\"exp\":4102444800,\"nbf\":18446744073709552",
        "\"exp\":4102444800,\"nbf\":9223372036854775807",
        "\"exp\":4102444800,\"nbf\":1e18",
        "\"exp\":4102444800,\"nbf\":1e300",
        "\"exp\":4102444800,\"nbf\":99999999999999999999",
        "\"exp\":4102444800,\"nbf\":\"0\"",
        "\"exp\":4102444800,\"nbf\":true",
        "\"exp\":4102444800,\"nbf\":[]",
        "\"exp\":4102444800,\"iat\":\"now\"",
        "\"exp\":4102444800,\"iat\":1e300",
        "\"exp\":4102444800,\"nbf\":1,\"nbf\":0",
        "\"exp\":4102444800,\"jti\":{}",
        "\"exp\":4102444800,\"a\":1,\"a\":1"
      })
  void odd_dates_and_repeated_members_are_invalid(String claims) {
    assertInvalid(
        signedPayload("{\"iss\":\"https://issuer.example/\",\"aud\":\"plants\"," + claims + "}"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"4102444800", "4102444800.5", "4.1024448e9", "999999999999999"})
  void every_number_is_a_date(String exp) {
    assertValid(
        signedPayload(
            "{\"iss\":\"https://issuer.example/\",\"aud\":\"plants\",\"nbf\":-1.5,\"iat\":0,\"exp\":"
                + exp
                + "}"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "7,\"plants\"",
        "null,\"plants\"",
        "[\"https://issuer.example/\"],\"plants\"",
        "\"https://issuer.example/ \",\"plants\"",
        "\"https://issuer.example/\\u0000\",\"plants\"",
        "\"https://evil.example/\",\"iss\":\"https://issuer.example/\",\"plants\"",
        "\"https://issuer.example/\",null",
        "\"https://issuer.example/\",\"\"",
        "\"https://issuer.example/\",\"plant\"",
        "\"https://issuer.example/\",\"plantss\"",
        "\"https://issuer.example/\",\"Plants\"",
        "\"https://issuer.example/\",\"plants others\"",
        "\"https://issuer.example/\",[\"others\",\"more\"]",
        "\"https://issuer.example/\",[[\"plants\"]]",
        "\"https://issuer.example/\",{\"plants\":true}",
        "\"https://issuer.example/\",[\"plants\",7]",
        "\"https://issuer.example/\",true",
        "\"https://issuer.example/\",\"others\",\"aud\":\"plants\""
      })
  void odd_issuer_or_audience_is_invalid(String issuerAndAudience) {
    int comma = issuerAndAudience.indexOf(",");
    assertInvalid(
        signedPayload(
            "{\"exp\":4102444800,\"iss\":"
                + issuerAndAudience.substring(0, comma)
                + ",\"aud\":"
                + issuerAndAudience.substring(comma + 1)
                + "}"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[]",
        "null",
        "7",
        "\"text\"",
        "{",
        "{}",
        "{} {}",
        "\uFEFF{}",
        "{\"exp\":4102444800",
        "/**/{}",
        "x"
      })
  void payload_that_is_no_object_of_claims_is_invalid(String payload) {
    assertInvalid(signedPayload(payload));
  }

  @Test
  void deeply_nested_claims_are_no_fault_of_the_service() {
    assertInvalid(signedPayload("{\"x\":" + "[".repeat(5_000) + "]".repeat(5_000) + "}"));
    assertInvalid(signedPayload("{\"x\":".repeat(1_500) + "1" + "}".repeat(1_500)));
  }

  @Test
  void token_that_expires_stops_being_valid() {
    String token = token(claims().expirationTime(Tokens.in(Duration.ofSeconds(-25))).build());
    assertValid(token);
    long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    while (status(server.getURI(), token) == 200 && System.nanoTime() < deadline) {
      LockSupport.parkNanos(Duration.ofMillis(200).toNanos());
    }

    assertInvalid(token);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "https://issuer.example",
        "http://issuer.example/",
        "https://ISSUER.example/",
        "https://evil.example/https://issuer.example/",
        ""
      })
  void another_issuer_is_invalid(String issuer) {
    assertInvalid(token(claims().issuer(issuer).build()));
  }

  @Test
  void missing_issuer_or_audience_is_invalid() {
    assertInvalid(token(claims().issuer(null).build()));
    assertInvalid(token(claims().audience((String) null).build()));
    assertInvalid(token(claims().audience(List.of()).build()));
    assertInvalid(token(claims().audience("others").build()));
  }

  @Test
  void another_secret_is_invalid() {
    assertInvalid(Tokens.hmac(HS256, "another secret, 32 bytes or more", claims().build()));
  }

  @Test
  void changed_claims_are_invalid() {
    String[] valid = token(claims().build()).split("\\.", -1);
    String[] other = token(claims().subject("root").build()).split("\\.", -1);

    assertInvalid(valid[0] + "." + other[1] + "." + valid[2]);
    assertInvalid(valid[0] + "." + valid[1] + ".");
    assertInvalid(valid[0] + "." + valid[1]);
  }

  @Test
  void unsigned_token_is_invalid() {
    assertInvalid(new PlainJWT(claims().build()).serialize());
  }

  @Test
  void signature_of_a_key_in_the_token_is_invalid() throws JOSEException {
    RSAKey key = new RSAKeyGenerator(2048).generate();
    JWSHeader header = new JWSHeader.Builder(JWSAlgorithm.RS256).jwk(key.toPublicJWK()).build();
    assertInvalid(Tokens.signed(header, new RSASSASigner(key), claims().build()));
  }

  @Test
  void algorithm_must_not_need_a_longer_secret() {
    String bytes48 = "x".repeat(48);
    String bytes64 = "x".repeat(64);

    assertAccepts(bytes48, Map.of(HS256, 200, HS384, 200));
    assertAccepts(bytes64, Map.of(HS256, 200, HS384, 200, HS512, 200));
    // Signed as nobody should: the signer of Nimbus would refuse to.
    assertInvalid(signedWith("HmacSHA384", HS384, Tokens.SECRET));
    assertInvalid(signedWith("HmacSHA512", HS512, Tokens.SECRET));
    assertValid(signedWith("HmacSHA256", HS256, Tokens.SECRET));
  }

  @Test
  void issuer_and_audience_are_free_where_none_is_set() {
    assertAccepts(Tokens.SECRET, Map.of(HS256, 200));
  }

  private static void assertAccepts(String secret, Map<JWSAlgorithm, Integer> expected) {
    try (EmbeddedServer other =
        ApplicationContext.run(EmbeddedServer.class, Map.of("jwt.secret", secret))) {
      expected.forEach((algorithm, status) -> {
        String token = Tokens.hmac(algorithm, secret, Tokens.claims().build());
        assertEquals(status, status(other.getURI(), token), algorithm.getName());
      });
    }
  }

  private static JWTClaimsSet.Builder claims() {
    return Tokens.claims().issuer("https://issuer.example/").audience("plants");
  }

  private static String token(JWTClaimsSet claims) {
    return Tokens.hmac(HS256, Tokens.SECRET, claims);
  }

  private static String signedPayload(String payload) {
    return signed("HmacSHA256", HS256, Tokens.SECRET, payload);
  }

  private static String signedWith(String mac, JWSAlgorithm algorithm, String secret) {
    return signed(mac, algorithm, secret, claims().build().toString());
  }

  private static String signed(String mac, JWSAlgorithm algorithm, String secret, String payload) {
    try {
      String input = new JWSHeader(algorithm).toBase64URL() + "." + Base64URL.encode(payload);
      Mac signer = Mac.getInstance(mac);
      signer.init(new SecretKeySpec(secret.getBytes(UTF_8), mac));
      return input + "." + Base64URL.encode(signer.doFinal(input.getBytes(UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private void assertValid(String token) {
    assertAnswer(200, "{\"name\":\"fern\"}", token);
  }

  private void assertInvalid(String token) {
    assertAnswer(
        401,
        "{\"error\":4002,\"message\":\"The bearer token is not valid here; obtain a new one.\"}",
        token);
  }

  private void assertAnswer(int status, String body, String token) {
    Answer answer = Answer.create(server.getURI(), token);
    assertEquals(body, answer.body());
    assertEquals(status, answer.status());
  }

  private static int status(URI server, String token) {
    return Answer.create(server, token).status();
  }
}
