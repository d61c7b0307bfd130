package org.plantstore.adapter.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.http.Answer.assertAnswer;
import static org.plantstore.adapter.http.Answer.assertError;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantIdTakenException;
import org.plantstore.domain.PlantStoreUnavailableException;

/** The answers to a create, byte for byte: each kind once. */
@Tag("newest")
class CreatePlantTest extends ServerTest {

  private static final int MAX_BODY_BYTES = 1_048_576;
  private static final String TOO_LARGE = "The body must have at most 1048576 bytes.";

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {"id":1,"name":"fern","tag":"shade"}  | {"name":"fern","tag":"shade"}
          {"id":1,"name":"fern"}                | {"name":"fern"}
          {"id":1,"name":"","tag":""}           | {"name":"","tag":""}
          {"id":1,"name":"\\u0066\\/\\"\\\\\\b\\f\\n\\r\\t\\u0001\\ud83c\\udf3f"}\
          | {"name":"f/\\"\\\\\\b\\f\\n\\r\\t\\u0001\uD83C\uDF3F"}
          {"id":1,"name":" \u00E9 e\u0301 \uFFFF  \u007F "}\
          | {"name":" \u00E9 e\u0301 \uFFFF  \u007F "}
          """)
  void plant_is_answered_without_its_id(String request, String response) {
    assertAnswer(post(request), 200, response);
  }

  @Test
  void plant_goes_to_the_port_and_is_answered_as_the_port_answers_it() {
    createPlant.behave(plant -> new Plant(plant.toString(), "its\u2028tag"));

    assertAnswer(
        post("{\"id\":7,\"name\":\"fern\",\"tag\":\"shade\"}"),
        200,
        "{\"name\":\"NewPlant[id=7, name=fern, tag=shade]\",\"tag\":\"its\u2028tag\"}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"text/html", "application/xml", "application/json;q=0", "nonsense", "*/*"})
  void accept_and_query_are_not_consulted(String accept) {
    HttpRequest.Builder created =
        create(FERN).uri(server.getURI().resolve("/plants?id=2")).setHeader("Accept", accept);

    assertAnswer(Answer.to(created), 200, "{\"name\":\"fern\"}");
    assertRefused(
        Answer.to(create("{\"id\":1}").setHeader("Accept", accept)), 2002, "name is required.");
  }

  @Test
  void body_of_the_largest_allowed_size_is_read_and_answered() {
    String name = "x".repeat(MAX_BODY_BYTES - "{\"id\":1,\"name\":\"\"}".length());

    Answer answer = post("{\"id\":1,\"name\":\"" + name + "\"}");

    assertAnswer(answer, 200, "{\"name\":\"" + name + "\"}");
  }

  @ParameterizedTest
  @ValueSource(strings = {FERN, ""})
  void undeclared_body_is_refused_even_if_it_is_empty(String body) {
    assertRefused(
        Answer.to(create(body).setHeader("Content-Type", "text/plain")),
        1003,
        "The body must have the Content-Type application/json, but has text/plain.");
    assertRefused(
        Answer.to(create(body).header("Content-Encoding", "gzip")),
        1004,
        "The body must be sent as it is, without Content-Encoding.");
    assertEquals(0, createPlant.calls());
  }

  @Test
  void empty_body_and_larger_one_of_undeclared_length_are_refused() {
    BodyPublisher body = BodyPublishers.ofString("x".repeat(MAX_BODY_BYTES + 1));
    assertRefused(
        Answer.to(authenticated("/plants").POST(BodyPublishers.fromPublisher(body))),
        1005,
        TOO_LARGE);
    assertRefused(post(""), 1001, "The body must not be empty.");
    assertEquals(0, createPlant.calls());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Content-Length: 1048577                          | 1005 | " + TOO_LARGE,
        "Content-Length: 9223372036854775807              | 1005 | " + TOO_LARGE,
        "Content-Length: 22 & Content-Encoding: gzip     | 1004 | without Content-Encoding.",
        "Transfer-Encoding: chunked & Content-Type: a/b  | 1003 | but has several."
      })
  void client_that_would_wait_for_100_continue_gets_its_refusal_at_once(
      String headers, int error, String message) throws IOException {
    String request =
        head(
            "POST /plants HTTP/1.1",
            headers.replace(" & ", "\r\n") + "\r\nExpect: 100-continue\r\n");

    String answer = send(request);

    assertEquals(List.of(400), statuses(answer), answer);
    assertTrue(answer.contains("{\"error\":" + error + ","), answer);
    assertTrue(answer.endsWith(message + "\"}"), answer);
    String anonymous = request.replaceAll("Authorization: .*\r\n", "");
    assertEquals(List.of(401), statuses(send(anonymous)));
  }

  @Test
  void taken_id_is_refused_and_the_stored_plant_is_not_revealed() {
    createPlant.fail(new PlantIdTakenException(7));

    assertRefused(
        post("{\"id\":7,\"name\":\"fern\"}"),
        3001,
        "id 7 is taken by a plant with another name or tag; choose another id.");
  }

  @Test
  void unavailable_store_asks_to_retry() {
    createPlant.fail(new PlantStoreUnavailableException("secret address"));

    Answer answer = post(FERN);

    String message = "The plant store is unavailable now; send the same request again later.";
    assertError(answer, 503, 5002, message);
    assertEquals(Optional.of("1"), answer.header("Retry-After"));
  }

  @Test
  void fault_of_the_service_reveals_nothing_and_is_logged_once_a_second() {
    createPlant.behave(
        plant -> CreatePlantTest.<RuntimeException>sneakyThrow(new IOException("secret cause")));
    try (Log log = new Log(ErrorAnswers.class.getName())) {
      int creates = 0;
      while (log.await(0).size() < 2) {
        Answer answer = post(FERN);
        assertError(answer, 500, 5001, "The service has failed; its log says why.");
        assertEquals(Optional.empty(), answer.header("Retry-After"));
        creates++;
      }

      assertTrue(creates > 10, "creates: " + creates);
      assertEquals("A request failed", log.await(2).get(1).getFormattedMessage());
    }
  }

  @SuppressWarnings("unchecked")
  private static <E extends Exception> Plant sneakyThrow(Exception failure) throws E {
    throw (E) failure;
  }

  private static void assertRefused(Answer answer, int error, String message) {
    assertError(answer, 400, error, message);
  }
}
