package org.plantstore.adapter.http.token;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.micronaut.context.ApplicationContext;
import io.micronaut.http.HttpStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;

/** Tests which encodings, headers, and claims make a token valid if the key is a secret. */
class SecretTokensTest {

  private static final byte[] SECRET = Tokens.SECRET.getBytes(UTF_8);
  private static final String HS256 = "{\"alg\":\"HS256\"}";
  private static final String ISSUER = "https://issuer.example/";
  private static final String MEANT_FOR_US = "\"iss\":\"" + ISSUER + "\",\"aud\":\"plants\"";
  private static final String VALID = "{\"exp\":4102444800," + MEANT_FOR_US + "}";

  private final TokenValidation validation =
      validation(
          Map.of(
              "jwt.secret",
              Tokens.SECRET,
              "jwt.issuer",
              "https://other.example  " + ISSUER,
              "jwt.audience",
              "garden plants"));

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          "sub":"ann","client_id":"shop"  | ann
          "sub":7,"client_id":"shop"      | 7
          "client_id":"shop","azp":"site" | shop
          "azp":"site"                    | site
          "sub":{"a":1},"azp":"site"      | site
          "sub":[],"client_id":true       | ''
          "azp":null                      | ''
          """)
  void caller_is_the_subject_or_if_there_is_none_the_client(String claims, String caller) {
    String token = Tokens.raw(HS256, VALID.replace("{", "{" + claims + ","), SECRET);
    assertEquals(caller, requireValid(validation, token).caller());
  }

  /** A genuine token that lacks the claim is refused with 403 instead of 401. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          true  | scope=plants.write | "scope":"plants.read plants.write"
          true  | scope=plants.write | "scope":["plants.read","plants.write"]
          false | scope=plants.write | "scope":"plants.writer"
          false | scope=plants.write | "scope":[["plants.write"]]
          true  | scope=plants.write | "scope":{"plants.write":true}
          false | scope=plants.write | "scope":{"plants.write":false}
          false | scope=plants.write | "scp":"plants.write"
          true  | scp=1 scp=2        | "scp":"1 2"
          false | workflow=deploy    | "workflow":"evil deploy"
          false | a.scope=deploy     | "a":{"scope":"evil deploy"}
          true  | level=7 is=true    | "level":7,"is":true
          false | a=1 b=2            | "a":"1","b":"3"
          true  | a=1,2              | "a":"2"
          false | a=1,2              | "a":"1,2"
          true  | a=1+%2B%25%c3%a9   | "a":["1++%\u00e9"]
          true  | realm_access.roles=writer | "realm_access":{"roles":["reader","writer"]}
          true  | resource_access.plant.store.roles=w | "resource_access":{"plant.store":{"roles":["w"]}}
          true  | https://nursery.example/roles=w | "https://nursery.example/roles":["w"]
          true  | urn:zitadel:iam:roles=w | "urn:zitadel:iam:roles":{"w":{"7":"nursery"}}
          false | a.b=w              | "a.b":"r","a":{"b":"w"}
          false | a=null             | "a":null
          """)
  void required_value_may_be_the_text_an_element_a_member_or_a_word_in_a_scope(
      boolean isMet, String required, String claims) {
    Map<String, Object> settings =
        Map.of("jwt.secret", Tokens.SECRET, "jwt.required-claims", required);
    RequiredClaimsRule rule = new RequiredClaimsRule(settings(settings));
    String text = Tokens.raw(HS256, VALID.replace("{", "{" + claims + ","), SECRET);
    ValidToken token = requireValid(validation(settings), text);
    if (isMet) {
      rule.check(null, token);
    } else {
      RefusedException refusal =
          assertThrows(RefusedException.class, () -> rule.check(null, token));
      assertEquals(ErrorNumber.MISSING_CLAIM, refusal.error());
    }
  }

  @Test
  void header_must_be_an_object_with_a_known_type_and_without_extensions() {
    cases(
            """
            "typ":"JWT"   "typ":"APPLICATION/JWT"   "typ":"Application/AT+JWT"   "typ":"JOSE"
            "typ":null   "kid":"any"   "kid":null   "crit":null   "zip":"DEF"   "b64":false   "cty":7
            "x5c":[7]   "x5t":{}   "x5u":7   "jku":true   "jku":":"   "exp":1   "a":1e400   "enc":[[]]
            "jwk":{"kty":"oct","k":"AA"}   "jwk":7   "x":"\\ud800"   "":null
            """)
        .forEach(member ->
            requireValid(
                validation, Tokens.raw("{\"alg\":\"HS256\"," + member + "}", VALID, SECRET)));
    cases(
            """
            null   {}   {"alg":null}   {"alg":7}   {"typ":"JWT"}   ["HS256"]
            {"alg":"HS256"   {"alg":"HS256"}x   {alg:HS256}   {"\\u0061lg":"none","alg":"HS256"}
            {"alg":"HS256","crit":["exp"],"exp":1}   {"alg":"HS256","crit":[]}   {"alg":"HS256","crit":"b64"}
            {"alg":"HS256","b64":false,"crit":["b64"]}   {"alg":"HS256","kid":7}   {"alg":"HS256","x":1,"x":1}
            {"alg":"HS256","typ":"JWE"}   {"alg":"HS256","typ":"logout+jwt"}   {"alg":"HS256","typ":7}
            """)
        .forEach(header -> assertInvalid(Tokens.raw(header, VALID, SECRET)));
  }

  @Test
  void payload_must_be_a_single_object() {
    for (String payload : cases("[]   null   7   \"text\"   {   {} {}   /**/{}   x")) {
      assertInvalidClaims(payload.replace("{}", VALID));
    }
    assertInvalidClaims("{\"x\":" + "[".repeat(5_000) + "]".repeat(5_000) + "}");
    assertInvalidClaims("{\"x\":".repeat(1_500) + "1" + "}".repeat(1_500));
    String token = Tokens.raw(HS256, VALID, SECRET);
    assertInvalid(Tokens.raw("{\"alg\":\"HS256\",\"cty\":\"JWT\"}", token, SECRET));
  }

  @Test
  void expiration_and_start_times_must_be_numbers() {
    cases(
            """
            "exp":4102444800.5   "exp":4.1024448e9   "exp":9223372036854775   "exp":9223372036854775807
            "exp":99999999999999999999   "exp":4102444800,"nbf":-1.5,"iat":0
            "exp":4102444800,"nbf":null,"iat":null   "exp":1e400
            """)
        .forEach(claims -> assertValidClaims("{" + MEANT_FOR_US + "," + claims + "}"));
    cases(
            """
            "sub":"no expiration"   "exp":null   "exp":true   "exp":[4102444800]   "exp":"4102444800"
            "exp":0   "exp":1.5e9   "exp":-9223372036854775808   "exp":NaN
            "exp":1,"exp":4102444800   "exp":1,"\\u0065xp":4102444800   "exp":4102444800,"a":1,"a":1
            "exp":4102444800,"nbf":4102444800   "exp":4102444800,"nbf":9223372036854775807
            "exp":4102444800,"nbf":1e400   "exp":4102444800,"nbf":"0"   "exp":4102444800,"a":{"b":1,"b":1}
            """)
        .forEach(claims -> assertInvalidClaims("{" + MEANT_FOR_US + "," + claims + "}"));
  }

  @Test
  void claim_without_effect_may_have_any_type_and_value() {
    for (String value :
        cases(
            """
            "now"   7   -1e400   1e-400   1e99999999999   99999999999999999999   true   null   ""   "\\ud800"
            []   {}   [7,null]   {"a":[{}]}   LONG   DEEP
            """)) {
      String any =
          value
              .replace("LONG", "1".repeat(5_000))
              .replace("DEEP", "[".repeat(900) + "]".repeat(900));
      for (String name : cases("iat   jti   sub   auth_time   scope   cnf   azp   client_id")) {
        assertValidClaims(VALID.replace("}", ",\"" + name + "\":" + any + "}"));
      }
    }
    // Even iss and aud have no effect if no issuer and no audience are set.
    TokenValidation ofAny = validation(Map.of("jwt.secret", Tokens.SECRET));
    for (String value : cases("7   null   [7]   {}   [[]]   1e400")) {
      String payload = "{\"exp\":4102444800,\"iss\":V,\"aud\":V}".replace("V", value);
      requireValid(ofAny, Tokens.raw(HS256, payload, SECRET));
    }
  }

  /** Creates another token if the validation has taken so long that the result may differ. */
  @ParameterizedTest
  @CsvSource({"-20,0,true", "-40,0,false", "60,20,true", "60,60,false"})
  void clocks_may_differ_by_30_seconds(long exp, long nbf, boolean isValid) {
    long now;
    boolean isAccepted;
    do {
      now = Instant.now().getEpochSecond();
      String dates = ",\"exp\":" + (now + exp) + ",\"nbf\":" + (now + nbf);
      String token = Tokens.raw(HS256, "{" + MEANT_FOR_US + dates + "}", SECRET);
      isAccepted = isValid(validation, token);
    } while (Instant.now().getEpochSecond() - now > 5);
    assertEquals(isValid, isAccepted);
  }

  @Test
  void token_must_have_an_accepted_issuer_and_at_least_one_accepted_audience() {
    assertInvalidClaims(VALID.replace("\"iss\"", "\"other\""));
    cases(
            """
            7   null   ""   ["https://issuer.example/"]   "https://issuer.example"
            "https://ISSUER.example/"   "https://other.example https://issuer.example/"
            """)
        .forEach(issuer -> assertInvalidClaims(VALID.replace('"' + ISSUER + '"', issuer)));
    assertValidClaims(VALID.replace(ISSUER, "https://other.example"));
    assertInvalidClaims(VALID.replace("\"aud\"", "\"other\""));
    cases(
            """
            null   ""   []   "Plants"   "garden plants"
            ["others","more"]   [["plants"]]   {"plants":true}   7   [7,null]
            """)
        .forEach(audience -> assertInvalidClaims(VALID.replace("\"plants\"", audience)));
    for (String audience : cases("[\"others\",\"garden\"]   [7,null,[],{},\"plants\"]")) {
      assertValidClaims(VALID.replace("\"plants\"", audience));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "32,256,true",
    "64,256,true",
    "47,384,false",
    "48,384,true",
    "63,512,false",
    "64,512,true"
  })
  void secret_must_be_long_enough_for_the_algorithm(int bytes, String bits, boolean isValid) {
    String secret = "x".repeat(bytes);
    String token = Tokens.raw("{\"alg\":\"HS" + bits + "\"}", VALID, secret.getBytes(UTF_8));
    // Every issuer and audience is valid if none are set.
    TokenValidation ofAny = validation(Map.of("jwt.secret", secret));
    assertEquals(isValid, isValid(ofAny, token));
  }

  @Test
  void text_that_a_lenient_decoder_would_accept_as_a_valid_token_is_invalid() {
    String valid = Tokens.raw(HS256, VALID, SECRET);
    cases("TOKEN=   TOKENA   TOKEN.   TOKEN.AA   .TOKEN   \"TOKEN\"")
        .forEach(odd -> assertInvalid(odd.replace("TOKEN", valid)));
    for (String odd : List.of(" ", "*")) {
      assertInvalid(valid.replaceFirst("(?=.{9}$)", odd));
    }
    String other = Tokens.raw(HS256, VALID.replace("{", "{\"sub\":\"root\","), SECRET);
    String signature = valid.substring(valid.lastIndexOf('.'));
    assertInvalid(other.substring(0, other.lastIndexOf('.')) + signature);
    assertInvalid("a.".repeat(7_000));
  }

  /** Fetches from a provider do not time out even if the machine stalls. */
  static TokenValidation validation(Map<String, Object> properties) {
    TokenSettings settings = settings(properties);
    return new TokenValidation(settings, new TokenKeys(settings, Duration.ofMinutes(1)));
  }

  /** Returns the settings that these properties, such as {@code jwt.secret}, specify. */
  static TokenSettings settings(Map<String, Object> properties) {
    try (ApplicationContext context = ApplicationContext.builder(properties).build()) {
      return TokenSettings.of(context.getEnvironment().start());
    }
  }

  /** Returns the token if it is valid; throws RefusedException otherwise. */
  static ValidToken requireValid(TokenValidation validation, String token) {
    try {
      return validation.validate(token).join();
    } catch (CompletionException e) {
      throw assertInstanceOf(RefusedException.class, e.getCause());
    }
  }

  /** Returns whether a token is valid. Fails if an invalid token causes a status other than 401. */
  static boolean isValid(TokenValidation validation, String token) {
    try {
      requireValid(validation, token);
      return true;
    } catch (RefusedException e) {
      assertEquals(HttpStatus.UNAUTHORIZED, e.error().status());
      return false;
    }
  }

  /** Splits a text into cases, which are separated by three spaces or line breaks. */
  private static List<String> cases(String text) {
    return List.of(text.strip().split(" {3}|\n"));
  }

  private void assertValidClaims(String payload) {
    requireValid(validation, Tokens.raw(HS256, payload, SECRET));
  }

  private void assertInvalidClaims(String payload) {
    assertInvalid(Tokens.raw(HS256, payload, SECRET));
  }

  private void assertInvalid(String token) {
    assertFalse(isValid(validation, token), token);
  }
}
