package org.plantstore.adapter.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.plantstore.adapter.http.Answer.assertAnswer;
import static org.plantstore.adapter.http.Answer.assertError;
import static org.plantstore.adapter.http.connection.RawRequests.FERN;

import io.micronaut.context.annotation.Property;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import jakarta.inject.Inject;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who is let in, and to which address: the caller is looked at before anything else. */
@MicronautTest
@Property(name = "jwt.secret", value = Tokens.SECRET)
class AddressAndCallerTest {

  @Inject EmbeddedServer server;
  @Inject FakeCreatePlant createPlant;

  @Test
  void request_without_a_token_is_unauthorized() {
    assertNoToken(Answer.to(anonymous("/plants").POST(BodyPublishers.ofString(FERN))));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "Digest x", "x", "", "BearerX y"})
  void another_way_to_authenticate_is_unauthorized(String credentials) {
    assertNoToken(
        Answer.to(
            anonymous("/plants")
                .header("Authorization", credentials)
                .POST(BodyPublishers.ofString(FERN))));
  }

  @ParameterizedTest
  @ValueSource(strings = {"Bearer x", "Bearer a.b.c", "Bearer a b", "Bearer a.b.c=", "Bearer ...."})
  void nonsense_for_a_token_is_unauthorized(String credentials) {
    assertInvalidToken(
        Answer.to(
            anonymous("/plants")
                .header("Authorization", credentials)
                .POST(BodyPublishers.ofString(FERN))));
  }

  @Test
  void several_tokens_are_unauthorized() {
    assertNoToken(
        Answer.to(
            anonymous("/plants")
                .header("Authorization", "Bearer " + Tokens.valid())
                .header("Authorization", "Bearer " + Tokens.valid())
                .POST(BodyPublishers.ofString(FERN))));
  }

  @Test
  void token_beside_other_credentials_or_in_another_scheme_is_unauthorized() {
    String token = Tokens.valid();
    assertNoToken(
        Answer.to(
            anonymous("/plants")
                .header("Authorization", "Basic dXNlcjpwYXNz")
                .header("Authorization", "Bearer " + token)
                .POST(BodyPublishers.ofString(FERN))));
    for (String scheme : new String[] {"Token ", "JWT ", "OAuth ", "Bearer:", "Bearer=", ""}) {
      assertNoToken(
          Answer.to(
              anonymous("/plants")
                  .header("Authorization", scheme + token)
                  .POST(BodyPublishers.ofString(FERN))));
    }
    for (String joined :
        new String[] {token + ", Bearer " + token, token + "," + token, token + " realm=x"}) {
      assertInvalidToken(
          Answer.to(
              anonymous("/plants")
                  .header("Authorization", "Bearer " + joined)
                  .POST(BodyPublishers.ofString(FERN))));
    }
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
    assertNoToken(
        Answer.to(
            anonymous("/plants")
                .header(header, "Bearer " + Tokens.valid())
                .POST(BodyPublishers.ofString(FERN))));
  }

  @ParameterizedTest
  @ValueSource(strings = {"access_token", "token", "jwt", "Authorization", "bearer_token"})
  void token_in_the_query_or_a_form_is_not_read(String parameter) {
    String field = parameter + "=" + Tokens.valid();
    assertNoToken(Answer.to(anonymous("/plants?" + field).POST(BodyPublishers.ofString(FERN))));
    assertNoToken(
        Answer.to(
            anonymous("/plants")
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString(field))));
  }

  @ParameterizedTest
  @ValueSource(strings = {"Bearer", "bearer", "BEARER", "bEaReR"})
  void scheme_is_read_in_any_case(String scheme) {
    assertAnswer(
        Answer.to(
            anonymous("/plants")
                .header("Authorization", scheme + " " + Tokens.valid())
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(FERN))),
        200,
        "{\"name\":\"fern\"}");
  }

  @Test
  void token_elsewhere_than_in_the_header_is_not_read() {
    String token = Tokens.valid();
    assertNoToken(
        Answer.to(
            anonymous("/plants?access_token=" + token)
                .header("Cookie", "JWT=" + token)
                .POST(BodyPublishers.ofString("access_token=" + token))));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "not json", "[]"})
  void caller_is_looked_at_before_the_body(String body) {
    assertNoToken(
        Answer.to(
            anonymous("/plants")
                .setHeader("Content-Type", "text/plain")
                .POST(BodyPublishers.ofString(body))));
  }

  @Test
  void caller_is_looked_at_before_the_size_of_the_body() {
    assertNoToken(
        Answer.to(anonymous("/plants").POST(BodyPublishers.ofString("x".repeat(2_000_000)))));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/plant",
        "/plants/1",
        "/health",
        "/login",
        "/logout",
        "/keys",
        "/oauth/access_token",
        "//plants",
        "/Plants",
        "/%2e%2e/etc/passwd"
      })
  void unknown_path_is_not_found_for_callers_only(String path) {
    assertNoToken(Answer.to(anonymous(path).GET()));
    assertNoToken(Answer.to(anonymous(path).POST(BodyPublishers.ofString(FERN))));
    assertError(
        Answer.to(authenticated(path).GET()),
        404,
        4003,
        "Nothing is at this path; plants are created at /plants.");
    assertError(
        Answer.to(authenticated(path).POST(BodyPublishers.ofString(FERN))),
        404,
        4003,
        "Nothing is at this path; plants are created at /plants.");
  }

  @Test
  void slash_at_the_end_changes_nothing() {
    assertAnswer(
        Answer.to(authenticated("/plants/").POST(BodyPublishers.ofString(FERN))),
        200,
        "{\"name\":\"fern\"}");
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND"})
  void another_method_is_not_allowed_for_callers_only(String method) {
    assertNoToken(Answer.to(anonymous("/plants").method(method, BodyPublishers.noBody())));

    Answer answer = Answer.to(authenticated("/plants").method(method, BodyPublishers.noBody()));

    assertError(
        answer,
        405,
        4004,
        "The path does not allow this method; the Allow header names those it does.");
    assertEquals(Optional.of("POST"), answer.header("Allow"));
  }

  @Test
  void head_is_answered_without_a_body() {
    Answer answer = Answer.to(authenticated("/plants").method("HEAD", BodyPublishers.noBody()));

    assertEquals(405, answer.status());
    assertEquals("", answer.body());
    assertEquals(Optional.of("POST"), answer.header("Allow"));
  }

  @Test
  void preflight_of_a_browser_is_no_way_in() {
    assertNoToken(
        Answer.to(
            anonymous("/plants")
                .header("Origin", "http://elsewhere.example")
                .header("Access-Control-Request-Method", "POST")
                .method("OPTIONS", BodyPublishers.noBody())));
  }

  @ParameterizedTest
  @ValueSource(strings = {"text/html", "application/xhtml+xml,text/html;q=0.9"})
  void browser_is_answered_in_json_and_never_redirected(String accept) {
    assertNoToken(Answer.to(anonymous("/plants").header("Accept", accept).GET()));
    assertError(
        Answer.to(authenticated("/elsewhere").header("Accept", accept).GET()),
        404,
        4003,
        "Nothing is at this path; plants are created at /plants.");
  }

  private HttpRequest.Builder anonymous(String path) {
    return HttpRequest.newBuilder(URI.create(server.getURI() + path));
  }

  private HttpRequest.Builder authenticated(String path) {
    return anonymous(path)
        .header("Authorization", "Bearer " + Tokens.valid())
        .header("Content-Type", "application/json");
  }

  private void assertNoToken(Answer answer) {
    assertError(
        answer, 401, 4001, "The request must have one Authorization header with a bearer token.");
    assertEquals(Optional.of("Bearer realm=\"plants\""), answer.header("WWW-Authenticate"));
    assertEquals(0, createPlant.calls());
  }

  private void assertInvalidToken(Answer answer) {
    assertError(answer, 401, 4002, "The bearer token is not valid here; obtain a new one.");
    assertEquals(
        Optional.of("Bearer realm=\"plants\", error=\"invalid_token\""),
        answer.header("WWW-Authenticate"));
    assertEquals(0, createPlant.calls());
  }
}
