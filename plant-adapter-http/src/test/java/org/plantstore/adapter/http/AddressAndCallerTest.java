package org.plantstore.adapter.http;

import static java.net.http.HttpRequest.BodyPublishers.noBody;
import static java.net.http.HttpRequest.BodyPublishers.ofString;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.plantstore.adapter.http.Answer.assertError;

import java.net.http.HttpRequest;
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
    assertNoToken(create(FERN).setHeader("Authorization", withToken(credentials)));
  }

  /** An opaque token and an encrypted one have two and five parts. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "a.b.c",
        "TOKEN, Bearer TOKEN",
        "Bearer TOKEN",
        "\"TOKEN\"",
        "undefined",
        "a.b",
        "e..a.b.c"
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

  @ParameterizedTest
  @ValueSource(strings = {"Bearer TOKEN", "Basic dXNlcjpwYXNz"})
  void token_with_other_credentials_is_unauthorized(String other) {
    assertNoToken(create(FERN).header("Authorization", withToken(other)));
  }

  @Test
  void token_in_another_header_the_query_a_form_or_a_cookie_is_not_read() {
    String field = "access_token=" + Tokens.valid();
    assertNoToken(
        anonymous("/plants?" + field)
            .header("Proxy-Authorization", "Bearer " + Tokens.valid())
            .header("Content-Type", "application/x-www-form-urlencoded")
            .header("Cookie", field)
            .POST(ofString(field)));
  }

  @Test
  void scheme_is_read_in_any_case() {
    String credentials = "bEARER " + Tokens.valid();
    assertEquals(200, Answer.to(create(FERN).setHeader("Authorization", credentials)).status());
  }

  @ParameterizedTest
  @ValueSource(strings = {"/plants/1", "/health", "/login", "/oauth/access_token", "/token_info"})
  void unknown_path_is_not_found_for_callers_only_and_no_browser_is_redirected(String path) {
    for (String method : List.of("GET", "POST")) {
      assertNoToken(anonymous(path).header("Accept", "text/html").method(method, noBody()));
      Answer known =
          Answer.to(authenticated(path).header("Accept", "text/html").method(method, noBody()));
      assertError(known, ErrorNumber.NOT_FOUND);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET", "PUT", "OPTIONS", "PROPFIND"})
  void another_method_is_not_allowed_for_callers_only_and_a_preflight_is_no_way_in(String method) {
    assertNoToken(
        anonymous("/plants")
            .header("Origin", "http://elsewhere.example")
            .header("Access-Control-Request-Method", "POST")
            .method(method, noBody()));

    Answer answer = Answer.to(authenticated("/plants").method(method, noBody()));

    assertError(answer, ErrorNumber.METHOD_NOT_ALLOWED);
    assertEquals(Optional.of("POST"), answer.header("Allow"));
  }

  /** Annotations cannot have a valid token. */
  private static String withToken(String credentials) {
    return credentials.replace("TOKEN", Tokens.valid());
  }

  private void assertNoToken(HttpRequest.Builder request) {
    Answer answer = Answer.to(request);
    assertError(answer, ErrorNumber.NO_TOKEN);
    assertEquals(Optional.of("Bearer realm=\"plants\""), answer.header("WWW-Authenticate"));
    assertEquals(0, createPlant.calls());
  }
}
