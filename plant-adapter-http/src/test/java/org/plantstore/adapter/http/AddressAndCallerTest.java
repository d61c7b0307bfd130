package org.plantstore.adapter.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.plantstore.adapter.http.Answer.assertError;

import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Authentication precedes everything else, and addresses are exact. */
class AddressAndCallerTest extends ServerTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          Bearer                     | 4001
          `Bearer `                  | 4001
          Basic dXNlcjpwYXNz         | 4001
          Digest x                   | 4001
          x                          | 4001
          ``                         | 4001
          BearerX y                  | 4001
          TOKEN                      | 4001
          Token TOKEN                | 4001
          JWT TOKEN                  | 4001
          OAuth TOKEN                | 4001
          Bearer:TOKEN               | 4001
          Bearer=TOKEN               | 4001
          Bearer x                   | 4002
          Bearer a.b.c               | 4002
          Bearer a b                 | 4002
          Bearer a.b.c=              | 4002
          Bearer ....                | 4002
          Bearer TOKEN, Bearer TOKEN | 4002
          Bearer TOKEN,TOKEN         | 4002
          Bearer TOKEN realm=x       | 4002
          """)
  void other_credentials_are_unauthorized(String credentials, int error) {
    assertUnauthorized(error, create(FERN).setHeader("Authorization", withToken(credentials)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Proxy-Authorization",
        "X-Authorization",
        "X-Access-Token",
        "X-Forwarded-Authorization",
        "Authentication",
        "Access-Token",
        "Cookie"
      })
  void token_in_another_header_is_not_read(String header) {
    assertNoToken(anonymousCreate().header(header, "Bearer " + Tokens.valid()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"Bearer TOKEN", "Basic dXNlcjpwYXNz"})
  void token_with_other_credentials_is_unauthorized(String other) {
    assertNoToken(
        anonymousCreate()
            .header("Authorization", withToken(other))
            .header("Authorization", withToken("Bearer TOKEN")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"access_token", "token", "jwt", "Authorization", "bearer_token"})
  void token_in_the_query_a_form_or_a_cookie_is_not_read(String parameter) {
    String field = parameter + "=" + Tokens.valid();
    assertNoToken(
        anonymous("/plants?" + field)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .header("Cookie", field)
            .POST(BodyPublishers.ofString(field)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"Bearer", "bearer", "BEARER", "bEaReR"})
  void scheme_is_read_in_any_case(String scheme) {
    String credentials = scheme + " " + Tokens.valid();
    assertEquals(200, Answer.to(create(FERN).setHeader("Authorization", credentials)).status());
  }

  @Test
  void caller_is_looked_at_before_the_body() {
    for (String body : List.of("", "not json", "x".repeat(2_000_000))) {
      assertNoToken(
          anonymous("/plants")
              .header("Content-Type", "text/plain")
              .POST(BodyPublishers.ofString(body)));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/plant", "/plants/1", "/health", "/login",
        "/logout", "/keys", "/oauth/access_token", "/%2e%2e/etc/passwd"
      })
  void unknown_path_is_not_found_for_callers_only_and_no_browser_is_redirected(String path) {
    String browser = "application/xhtml+xml,text/html;q=0.9";
    for (String method : List.of("GET", "POST")) {
      BodyPublisher body = BodyPublishers.ofString(FERN);
      assertNoToken(anonymous(path).header("Accept", browser).method(method, body));
      assertError(
          Answer.to(authenticated(path).header("Accept", browser).method(method, body)),
          404,
          4003,
          "Nothing is at this path; plants are created at /plants.");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND", "HEAD"})
  void another_method_is_not_allowed_for_callers_only_and_a_preflight_is_no_way_in(String method) {
    if (!method.equals("HEAD")) {
      assertNoToken(
          anonymous("/plants")
              .header("Origin", "http://elsewhere.example")
              .header("Access-Control-Request-Method", "POST")
              .method(method, BodyPublishers.noBody()));
    }

    Answer answer = Answer.to(authenticated("/plants").method(method, BodyPublishers.noBody()));

    assertEquals(405, answer.status());
    assertEquals(Optional.of("POST"), answer.header("Allow"));
    assertEquals(
        method.equals("HEAD")
            ? ""
            : "{\"error\":4004,\"message\":\"The path does not allow this method; the Allow header"
                + " lists the allowed methods.\"}",
        answer.body());
  }

  /** Annotations cannot have a valid token. */
  private static String withToken(String credentials) {
    return credentials.replace("TOKEN", Tokens.valid());
  }

  private HttpRequest.Builder anonymousCreate() {
    return anonymous("/plants").POST(BodyPublishers.ofString(FERN));
  }

  private void assertNoToken(HttpRequest.Builder request) {
    assertUnauthorized(4001, request);
  }

  private void assertUnauthorized(int error, HttpRequest.Builder request) {
    Answer answer = Answer.to(request);
    if (error == 4001) {
      assertError(
          answer, 401, 4001, "The request must have one Authorization header with a bearer token.");
      assertEquals(Optional.of("Bearer realm=\"plants\""), answer.header("WWW-Authenticate"));
    } else {
      assertError(answer, 401, 4002, "The bearer token is not valid here; obtain a new one.");
      assertEquals(
          Optional.of("Bearer realm=\"plants\", error=\"invalid_token\""),
          answer.header("WWW-Authenticate"));
    }
    assertEquals(0, createPlant.calls());
  }
}
