package org.plantstore.adapter.http;

import static java.net.http.HttpRequest.BodyPublishers.noBody;
import static java.net.http.HttpRequest.BodyPublishers.ofString;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.http.Answer.assertAnswer;
import static org.plantstore.adapter.http.Answer.assertError;

import ch.qos.logback.classic.spi.ILoggingEvent;
import io.micronaut.context.annotation.Property;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.exceptions.ContentLengthExceededException;
import io.micronaut.http.exceptions.HttpStatusException;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.Plant;

/** Compares each kind of response to a create request, byte for byte. */
@Tag("newest")
@Property(name = "max.concurrent.creates", value = "2")
class CreatePlantTest extends ServerTest {

  private static final int MAX_BODY_BYTES = 1_048_576;
  private static final String TOO_LARGE =
      "The body exceeds the limit of 1048576 bytes; shorten name or tag, or omit other members.";

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {"id":1,"name":"fern","tag":null}     | {"name":"fern"}
          {"id":1,"name":"","tag":""}           | {"name":"","tag":""}
          {"id":1,"name":"\\u0066\\/\\"\\\\\\b\\f\\n\\r\\t\\u0001\\ud83c\\udf3f"}\
          | {"name":"f/\\"\\\\\\b\\f\\n\\r\\t\\u0001\uD83C\uDF3F"}
          {"id":1,"name":" \u00E9 e\u0301 \uFFFF  \u007F "}\
          | {"name":" \u00E9 e\u0301 \uFFFF  \u007F "}
          """)
  void response_is_the_plant_without_its_id_whatever_type_the_client_accepts(
      String request, String response) {
    assertAnswer(Answer.to(create(request).setHeader("Accept", "text/html")), 200, response);
  }

  @Test
  void port_receives_the_plant_and_its_result_is_the_response() {
    createPlant.behave(plant -> new Plant(plant.toString(), "its\u2028tag"));

    assertAnswer(
        post("{\"id\":7,\"name\":\"fern\",\"tag\":\"shade\"}"),
        200,
        "{\"name\":\"NewPlant[id=7, name=fern, tag=shade]\",\"tag\":\"its\u2028tag\"}");
  }

  @Test
  void largest_body_is_accepted_but_an_empty_or_larger_one_is_refused_even_without_a_length() {
    String empty =
        "The body is empty; send a JSON object such as {\\\"id\\\":1,\\\"name\\\":\\\"fern\\\"}.";
    assertError(post(""), 400, 1001, empty);
    String start = "{\"id\":1,\"name\":\"\",\"tag\":\"";
    String largest = start + "x".repeat(MAX_BODY_BYTES - start.length() - 2) + "\"}";
    assertAnswer(post(largest), 200, largest.replace("\"id\":1,", ""));

    var undeclared = BodyPublishers.fromPublisher(ofString("x".repeat(MAX_BODY_BYTES + 1)));
    assertError(Answer.to(authenticated("/plants").POST(undeclared)), 400, 1005, TOO_LARGE);
  }

  @Test
  void refusal_is_sent_at_once_to_a_client_that_expects_100_continue() throws IOException {
    String headers = "Content-Length: 1048577\r\nExpect: 100-continue\r\n";
    String request = head("POST /plants HTTP/1.1", headers);

    String answer = send(request);

    assertTrue(answer.startsWith("HTTP/1.1 400"), answer);
    assertTrue(answer.endsWith("{\"error\":1005,\"message\":\"" + TOO_LARGE + "\"}"), answer);
    String anonymous = request.replaceAll("Authorization: .*\r\n", "");
    assertEquals(List.of(401), statuses(send(anonymous)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "Content-Type | multipart/form-data          | 1003 | but is \\\"multipart/form-data\\\"; ",
        "Content-Type | application/x-www-form-urlencoded | 1003 |"
            + " but is \\\"application/x-www-form-urlencoded\\\"; ",
        "Content-Type | ;                            | 1003 | but is \\\";\\\"; ",
        "Content-Type | ``                           | 1003 | but is missing; ",
        "Content-Encoding | gzip                     | 1004 | , without a Content-Encoding header."
      })
  void body_of_another_type_or_encoding_is_refused_even_if_it_is_empty(
      String name, String value, int error, String fault) {
    for (String body : List.of(FERN, "")) {
      Answer answer = Answer.to(create(body).setHeader(name, value));
      assertEquals(400, answer.status());
      assertTrue(answer.body().startsWith("{\"error\":" + error + ","), answer::body);
      assertTrue(answer.body().contains(fault), answer::body);
    }
  }

  @Test
  void plant_that_violates_a_rule_of_the_store_is_refused_with_the_message_of_the_store() {
    createPlant.behave(plant -> {
      throw new InvalidPlantException(
          plant,
          List.of(new InvalidPlantException.Violation("tag", "must have at most 8,000 bytes")));
    });

    assertError(post(FERN), 400, 2003, "tag must have at most 8,000 bytes.");
  }

  /** Repeats the request, because another test may already have logged a line in this second. */
  @Test
  void internal_error_reveals_no_cause_releases_its_permit_and_is_logged_at_a_limited_rate() {
    createPlant.behave(plant -> {
      throw new AssertionError("secret cause");
    });
    long start = System.nanoTime();
    try (Log log = new Log(ErrorResponses.class.getName())) {
      for (int attempt = 0; attempt < 10 || log.await(0).isEmpty(); attempt++) {
        Answer answer = Answer.to(create(FERN).header("X-Request-Id", "failed"));
        assertError(answer, ErrorNumber.INTERNAL);
        assertEquals(Optional.empty(), answer.header("Retry-After"));
      }
      List<ILoggingEvent> lines = log.await(1);
      long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
      assertTrue(lines.size() <= seconds + 2, lines::toString);
      assertEquals("A request failed", lines.get(0).getFormattedMessage());
      assertEquals(Map.of("request_id", "failed"), lines.get(0).getMDCPropertyMap());
    }
  }

  /** A store may call another service with the framework's HTTP client. */
  @Test
  void framework_exception_thrown_by_a_store_is_an_internal_error() {
    for (RuntimeException fault :
        List.of(
            new HttpStatusException(HttpStatus.NOT_FOUND, "elsewhere"),
            new ContentLengthExceededException(1, 2),
            new RefusedException(ErrorNumber.NAME))) {
      createPlant.behave(plant -> {
        throw fault;
      });
      assertError(post(FERN), ErrorNumber.INTERNAL);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          ``               | The Authorization header must consist of the word 'Bearer', one space, and the token, without a colon or quotation marks.
          bEARER           | The Authorization header must consist of the word 'Bearer', one space, and the token, without a colon or quotation marks.
          TOKEN            | The Authorization header has no scheme; write 'Bearer ' before the token.
          Basic dXNlcjpwYQ | The Authorization header must consist of the word 'Bearer', one space, and the token, without a colon or quotation marks.
          Token TOKEN      | The Authorization header must consist of the word 'Bearer', one space, and the token, without a colon or quotation marks.
          Bearer:TOKEN     | The Authorization header must consist of the word 'Bearer', one space, and the token, without a colon or quotation marks.
          Bearer: TOKEN    | The Authorization header must consist of the word 'Bearer', one space, and the token, without a colon or quotation marks.
          BearerTOKEN      | The Authorization header must consist of the word 'Bearer', one space, and the token, without a colon or quotation marks.
          "Bearer TOKEN"   | The Authorization header must consist of the word 'Bearer', one space, and the token, without a colon or quotation marks.
          "TOKEN"          | The Authorization header must consist of the word 'Bearer', one space, and the token, without a colon or quotation marks.
          """)
  void token_is_accepted_only_from_a_single_authorization_header(
      String credentials, String message) {
    String other = withToken(credentials);
    assertNoToken(create(FERN).setHeader("Authorization", other), message.replace("'", "\\\""));
    assertNoToken(
        create(FERN).header("Authorization", other),
        "The request has 2 Authorization headers; send only one.");
    String field = "access_token=" + Tokens.valid();
    assertNoToken(
        anonymous("/plants?" + field)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .header("Cookie", field)
            .POST(ofString(field)),
        ErrorNumber.NO_TOKEN.description());
    String oddCase = withToken("bEARER TOKEN");
    assertEquals(200, Answer.to(create(FERN).setHeader("Authorization", oddCase)).status());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          a.b.c         | The header of the bearer token must be a JSON object without repeated members; obtain a new token, and send it unchanged.
          Bearer TOKEN  | The bearer token must be a signed JWT, but contains ' ' at position 7; send only the access token, unchanged, without quotation marks or a second 'Bearer'.
          "TOKEN"       | The bearer token must be a signed JWT, but contains '\\\\'' at position 1; send only the access token, unchanged, without quotation marks or a second 'Bearer'.
          undefined     | The bearer token must be a signed JWT, but has no dots, so it is opaque, a placeholder, or incomplete; send the complete access token, or ask its issuer for a signed JWT.
          a.b           | The bearer token must be a signed JWT, but has 2 parts instead of 3; send the complete access token, or ask its issuer for a signed JWT.
          e30.e30.      | The bearer token must be a signed JWT, but has no signature; send the complete access token, or ask its issuer for a signed JWT.
          e..a.b.c      | The bearer token must be a signed JWT, but is encrypted (JWE); send the complete access token, or ask its issuer for a signed JWT.
          a.b, Bearer c | The bearer token must be a signed JWT, but contains ',' at position 4; send only the access token, unchanged, without quotation marks or a second 'Bearer'.
          """)
  void refusal_says_why_a_token_is_not_a_signed_jwt(String token, String message) {
    Answer answer =
        Answer.to(create(FERN).setHeader("Authorization", withToken("Bearer " + token)));
    assertError(answer, 401, 4002, message.replace("'", "\\\""));
    assertEquals(
        Optional.of("Bearer realm=\"plants\", error=\"invalid_token\""),
        answer.header("WWW-Authenticate"));
    assertEquals(0, createPlant.calls());
  }

  @ParameterizedTest
  @CsvSource({
    "POST, /plants/1, NOT_FOUND",
    "GET, /health, NOT_FOUND",
    "GET, /login, NOT_FOUND",
    "PUT, /plants/1, NOT_FOUND",
    "POST, /Plants, NOT_FOUND",
    "POST, /api/plants, NOT_FOUND",
    "GET, /plants, METHOD_NOT_ALLOWED",
    "DELETE, /plants, METHOD_NOT_ALLOWED",
    "OPTIONS, /plants, METHOD_NOT_ALLOWED",
    "PROPFIND, /plants, METHOD_NOT_ALLOWED"
  })
  void another_path_or_method_is_refused_after_the_token_is_checked_and_never_redirected(
      String method, String path, ErrorNumber error) {
    assertNoToken(
        anonymous(path)
            .header("Accept", "text/html")
            .header("Origin", "http://elsewhere.example")
            .method(method, noBody()),
        ErrorNumber.NO_TOKEN.description());

    Answer answer =
        Answer.to(authenticated(path).header("Accept", "text/html").method(method, noBody()));

    assertError(answer, error);
    boolean exists = path.equals("/plants");
    assertEquals(exists ? Optional.of("POST") : Optional.empty(), answer.header("Allow"));
  }

  /** Inserts a valid token, because an annotation can contain only constants. */
  private static String withToken(String credentials) {
    return credentials.replace("TOKEN", Tokens.valid());
  }

  private void assertNoToken(HttpRequest.Builder request, String message) {
    Answer answer = Answer.to(request);
    assertError(answer, 401, 4001, message);
    assertEquals(Optional.of("Bearer realm=\"plants\""), answer.header("WWW-Authenticate"));
    assertEquals(0, createPlant.calls());
  }
}
