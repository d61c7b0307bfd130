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
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.error.ErrorNumber;

/** Authentication precedes everything else, and addresses are exact. */
class AddressAndCallerTest extends ServerTest {

  @ParameterizedTest
  @ValueSource(strings = {"Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "", "TOKEN", "Bearer:TOKEN"})
  void other_credentials_are_no_token(String credentials) {
    assertUnauthorized(
        ErrorNumber.NO_TOKEN, create(FERN).setHeader("Authorization", withToken(credentials)));
  }

  /** An opaque token and an encrypted one have two and five parts. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "a.b.c",
        "TOKEN, Bearer TOKEN",
        "TOKEN realm=x",
        "Bearer TOKEN",
        "\"TOKEN\"",
        "undefined",
        "null",
        "2YotnFZFEjr1zCsicMWpAA",
        "a.b",
        "eyJhbGciOiJkaXIiLCJlbmMiOiJBMTI4R0NNIn0..a.b.c"
      })
  void what_is_no_signed_jwt_is_named(String token) {
    Answer answer =
        Answer.to(create(FERN).setHeader("Authorization", withToken("Bearer " + token)));
    String message =
        "The bearer token is no signed JWT in its compact form; send the access token itself, once"
            + " and without quotes.";
    assertError(answer, 401, 4002, message);
    assertEquals(
        Optional.of("Bearer realm=\"plants\", error=\"invalid_token\""),
        answer.header("WWW-Authenticate"));
    assertEquals(0, createPlant.calls());
  }

  @Test
  void token_of_another_key_is_invalid() {
    String token = Tokens.raw("{\"alg\":\"HS256\"}", Tokens.CLAIMS, new byte[32]);
    assertUnauthorized(
        ErrorNumber.INVALID_TOKEN, create(FERN).setHeader("Authorization", "Bearer " + token));
  }

  @ParameterizedTest
  @ValueSource(strings = {"Bearer TOKEN", "Basic dXNlcjpwYXNz"})
  void token_with_other_credentials_is_unauthorized(String other) {
    assertNoToken(
        anonymous("/plants")
            .POST(BodyPublishers.ofString(FERN))
            .header("Authorization", withToken(other))
            .header("Authorization", withToken("Bearer TOKEN")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"access_token", "token", "Proxy-Authorization", "Authentication"})
  void token_in_another_header_the_query_a_form_or_a_cookie_is_not_read(String name) {
    String field = name + "=" + Tokens.valid();
    assertNoToken(
        anonymous("/plants?" + field)
            .header(name, "Bearer " + Tokens.valid())
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

  @ParameterizedTest
  @ValueSource(strings = {"/plants/1", "/health", "/login", "/oauth/access_token", "/token_info"})
  void unknown_path_is_not_found_for_callers_only_and_no_browser_is_redirected(String path) {
    String browser = "application/xhtml+xml,text/html;q=0.9";
    for (String method : List.of("GET", "POST")) {
      BodyPublisher body = BodyPublishers.ofString(FERN);
      assertNoToken(anonymous(path).header("Accept", browser).method(method, body));
      HttpRequest.Builder known = authenticated(path).header("Accept", browser);
      assertError(Answer.to(known.method(method, body)), ErrorNumber.NOT_FOUND);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND"})
  void another_method_is_not_allowed_for_callers_only_and_a_preflight_is_no_way_in(String method) {
    assertNoToken(
        anonymous("/plants")
            .header("Origin", "http://elsewhere.example")
            .header("Access-Control-Request-Method", "POST")
            .method(method, BodyPublishers.noBody()));

    Answer answer = Answer.to(authenticated("/plants").method(method, BodyPublishers.noBody()));

    assertError(answer, ErrorNumber.METHOD_NOT_ALLOWED);
    assertEquals(Optional.of("POST"), answer.header("Allow"));
  }

  /** Annotations cannot have a valid token. */
  private static String withToken(String credentials) {
    return credentials.replace("TOKEN", Tokens.valid());
  }

  private void assertNoToken(HttpRequest.Builder request) {
    assertUnauthorized(ErrorNumber.NO_TOKEN, request);
  }

  private void assertUnauthorized(ErrorNumber error, HttpRequest.Builder request) {
    Answer answer = Answer.to(request);
    String reason = error == ErrorNumber.INVALID_TOKEN ? ", error=\"invalid_token\"" : "";

    assertError(answer, error);
    assertEquals(
        Optional.of("Bearer realm=\"plants\"" + reason), answer.header("WWW-Authenticate"));
    assertEquals(0, createPlant.calls());
  }
}
