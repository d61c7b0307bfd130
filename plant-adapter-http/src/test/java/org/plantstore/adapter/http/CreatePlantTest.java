package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.http.Answer.assertAnswer;
import static org.plantstore.adapter.http.Answer.assertError;

import io.micronaut.context.annotation.Property;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import jakarta.inject.Inject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.connection.RawRequests;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantIdTakenException;
import org.plantstore.domain.PlantStoreUnavailableException;

/** What the contract leaves open, as decided: each row, seen from outside, byte for byte. */
@MicronautTest
@Property(name = "jwt.secret", value = Tokens.SECRET)
class CreatePlantTest {

  private static final String ID_KIND = "id must be an integer literal, but is ";
  private static final String ID_RANGE =
      "id must be from -9223372036854775808 to 9223372036854775807, but is outside";
  private static final int MAX_BODY_BYTES = 1_048_576;

  @Inject EmbeddedServer server;
  @Inject FakeCreatePlant createPlant;

  // The plant response

  @Test
  void plant_with_a_tag_is_answered_with_name_and_tag() {
    assertCreated(
        "{\"id\":1,\"name\":\"fern\",\"tag\":\"shade\"}",
        new NewPlant(1, "fern", "shade"),
        "{\"name\":\"fern\",\"tag\":\"shade\"}");
  }

  @Test
  void absent_tag_stays_absent() {
    assertCreated(
        "{\"id\":1,\"name\":\"fern\"}", new NewPlant(1, "fern", null), "{\"name\":\"fern\"}");
  }

  @Test
  void null_tag_means_no_tag() {
    assertCreated(
        "{\"id\":1,\"name\":\"fern\",\"tag\":null}",
        new NewPlant(1, "fern", null),
        "{\"name\":\"fern\"}");
  }

  @Test
  void empty_tag_and_empty_name_are_kept() {
    assertCreated(
        "{\"id\":1,\"name\":\"\",\"tag\":\"\"}",
        new NewPlant(1, "", ""),
        "{\"name\":\"\",\"tag\":\"\"}");
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MIN_VALUE, -1, 0, 1, 9_007_199_254_740_993L, Long.MAX_VALUE})
  void every_int64_is_an_id(long id) {
    assertCreated(
        "{\"id\":" + id + ",\"name\":\"fern\"}",
        new NewPlant(id, "fern", null),
        "{\"name\":\"fern\"}");
  }

  @Test
  void text_is_answered_exactly() {
    String text = " \u00E9 e\u0301 \uD83C\uDF3F \uFFFF \u2028 \u007F ";
    assertCreated(
        "{\"id\":1,\"name\":\"" + text + "\",\"tag\":\"" + text + "\"}",
        new NewPlant(1, text, text),
        "{\"name\":\"" + text + "\",\"tag\":\"" + text + "\"}");
  }

  @Test
  void escapes_are_read_and_written_as_json_demands() {
    assertCreated(
        "{\"id\":1,\"name\":\"\\u0066\\/\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\ud83c\\udf3f\"}",
        new NewPlant(1, "f/\"\\\b\f\n\r\t\u0001\uD83C\uDF3F", null),
        "{\"name\":\"f/\\\"\\\\\\b\\f\\n\\r\\t\\u0001\uD83C\uDF3F\"}");
  }

  @Test
  void unknown_members_are_ignored() {
    assertCreated(
        "{\"color\":{\"id\":[1,{\"name\":null}]},\"id\":1,\"Name\":2,\"name\":\"fern\",\"n\":1"
            + "0".repeat(5_000)
            + ",\""
            + "m".repeat(60_000)
            + "\":1e999999999}",
        new NewPlant(1, "fern", null),
        "{\"name\":\"fern\"}");
  }

  /** What remembers names to find repeated ones keeps those of one hash code in a tree. */
  @Test
  void unknown_members_of_one_hash_code_are_read_as_others_are() throws IOException {
    List<String> names = List.of("");
    while (names.size() < 8_000) {
      names = names.stream().flatMap(name -> Stream.of(name + "Aa", name + "BB")).toList();
    }
    assertEquals(1, names.stream().map(String::hashCode).distinct().count());
    String members = "\"" + String.join("\":0,\"", names) + "\":0";

    String once = "{" + members + ",\"id\":1,\"name\":\"fern\"}";
    String twice = "{" + members + "," + members + ",\"id\":1,\"name\":\"fern\"}";
    String answers =
        RawRequests.send(
            server,
            RawRequests.createRequest("", once)
                + RawRequests.createRequest("Connection: close\r\n", twice));

    assertEquals(List.of(200, 400), RawRequests.statuses(answers));
    assertTrue(answers.contains("{\"error\":1001,"), answers);
    assertEquals(1, createPlant.calls());
  }

  @Test
  void white_space_and_order_do_not_matter() {
    assertCreated(
        "\n\t {\r\n \"tag\" : \"shade\" , \"name\" : \"fern\" , \"id\" : -0 } \n",
        new NewPlant(0, "fern", "shade"),
        "{\"name\":\"fern\",\"tag\":\"shade\"}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json;charset=\"UTF-8\"",
        "application/json ; v=1; x=\"a;b\"",
        "application/json;; x=\"\\\"\""
      })
  void content_type_is_json_with_any_parameters_but_another_charset(String contentType) {
    assertAnswer(
        Answer.to(create("{\"id\":1,\"name\":\"fern\"}").setHeader("Content-Type", contentType)),
        200,
        "{\"name\":\"fern\"}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"text/html", "application/xml", "application/json;q=0", "nonsense", "*/*"})
  void accept_is_not_consulted(String accept) {
    Answer created = Answer.to(create("{\"id\":1,\"name\":\"fern\"}").setHeader("Accept", accept));
    Answer refused = Answer.to(create("{\"id\":1}").setHeader("Accept", accept));

    assertAnswer(created, 200, "{\"name\":\"fern\"}");
    assertError(refused, 400, 2002, "name is required.");
  }

  @Test
  void query_is_ignored() {
    assertAnswer(
        Answer.to(
            create("{\"id\":1,\"name\":\"fern\"}").uri(server.getURI().resolve("/plants?id=2"))),
        200,
        "{\"name\":\"fern\"}");
  }

  // Fields

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          "1"  | a string
          1.0  | a number with a fraction or an exponent
          1e2  | a number with a fraction or an exponent
          true | true
          false| false
          null | null
          {}   | an object
          [1]  | an array
          """)
  void id_of_another_kind_is_refused(String id, String kind) {
    assertRefused("{\"id\":" + id + ",\"name\":\"fern\"}", 2001, ID_KIND + kind + ".");
  }

  @ParameterizedTest
  @ValueSource(strings = {"9223372036854775808", "-9223372036854775809", "99999999999999999999999"})
  void id_outside_of_int64_is_refused(String id) {
    assertRefused("{\"id\":" + id + ",\"name\":\"fern\"}", 2001, ID_RANGE + ".");
  }

  @Test
  void id_with_many_digits_is_refused() {
    assertRefused("{\"id\":" + "9".repeat(1_000_000) + ",\"name\":\"\"}", 2001, ID_RANGE + ".");
  }

  @ParameterizedTest
  @CsvSource({"5,a number", "null,null", "true,true", "{},an object", "[],an array"})
  void name_and_tag_of_another_kind_are_refused(String value, String kind) {
    assertRefused(
        "{\"id\":1,\"name\":" + value + "}", 2002, "name must be a string, but is " + kind + ".");
    if (!value.equals("null")) {
      assertRefused(
          "{\"id\":1,\"name\":\"\",\"tag\":" + value + "}",
          2003,
          "tag must be a string, null or absent, but is " + kind + ".");
    }
  }

  @Test
  void missing_fields_are_refused() {
    assertRefused("{\"name\":\"fern\"}", 2001, "id is required.");
    assertRefused("{\"id\":1}", 2002, "name is required.");
    assertRefused("{}", 2001, "id is required; name is required.");
  }

  @ParameterizedTest
  @CsvSource({
    "\\u0000, U+0000",
    "\\ud800, an unpaired surrogate",
    "\\udf3f\\ud83c, an unpaired surrogate"
  })
  void text_that_no_store_keeps_is_refused(String text, String what) {
    String rule = " must not contain " + what + ", but has it at index 1.";
    assertRefused("{\"id\":1,\"name\":\"a" + text + "\"}", 2002, "name" + rule);
    assertRefused("{\"id\":1,\"name\":\"\",\"tag\":\"a" + text + "\"}", 2003, "tag" + rule);
  }

  @Test
  void several_broken_fields_are_all_named_in_order() {
    assertRefused(
        "{\"tag\":7,\"name\":\"\\u0000\",\"id\":\"x\"}",
        2001,
        ID_KIND
            + "a string; name must not contain U+0000, but has it at index 0;"
            + " tag must be a string, null or absent, but is a number.");
    assertRefused(
        "{\"tag\":\"\\u0000\",\"name\":null,\"id\":1}",
        2002,
        "name must be a string, but is null; tag must not contain U+0000, but has it at index 0.");
  }

  // The body as a whole

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"id":1,"name":"fern"                   | 1 | 22
          {"id":1,"name":"fern",}                 | 1 | 23
          {"id":1 "name":"fern"}                  | 1 | 9
          {id:1,"name":"fern"}                    | 1 | 2
          {'id':1,'name':'fern'}                  | 1 | 2
          {"id":01,"name":"fern"}                 | 1 | 8
          {"id":+1,"name":"fern"}                 | 1 | 8
          {"id":NaN,"name":"fern"}                | 1 | 10
          {"id":0x1,"name":"fern"}                | 1 | 8
          {"id":1,"name":"fern"} // comment       | 1 | 24
          {"id":1,/* comment */"name":"fern"}     | 1 | 9
          {"id":1,"name":"fe\\x"}                 | 1 | 20
          {"id":1,"id":1,"name":"fern"}           | 1 | 13
          {"id":1,"n":{"a":1,"a":2},"name":"fern"}| 1 | 23
          {"id":1,"\\u0069d":2,"name":"fern"}     | 1 | 18
          """)
  void malformed_json_is_refused_where_it_breaks(String json, int line, int column) {
    Answer answer = Answer.toCreate(server.getURI(), json);
    assertError(
        answer,
        400,
        1001,
        "The body must be valid JSON (RFC 8259) without repeated members; reading stopped at line "
            + line
            + ", column "
            + column
            + ".");
    assertEquals(0, createPlant.calls());
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "1", "{\"id\":2,\"name\":\"moss\"}", "[", "\"\""})
  void anything_after_the_object_is_refused(String trailing) {
    assertRefused(
        "{\"id\":1,\"name\":\"fern\"}" + trailing,
        1001,
        "The body must be one JSON object without anything after it; reading stopped at line 1,"
            + " column 23.");
  }

  @ParameterizedTest
  @ValueSource(strings = {"]", "x", "}"})
  void anything_after_the_object_that_is_no_json_is_refused(String trailing) {
    assertRefused(
        "{\"id\":1,\"name\":\"fern\"}" + trailing,
        1001,
        "The body must be valid JSON (RFC 8259) without repeated members; reading stopped at line 1,"
            + " column 23.");
  }

  @Test
  void line_break_in_a_string_is_refused() {
    assertRefused(
        "{\"id\":1,\"name\":\"fe\nrn\"}",
        1001,
        "The body must be valid JSON (RFC 8259) without repeated members; reading stopped at line 1,"
            + " column 19.");
  }

  @ParameterizedTest
  @ValueSource(strings = {"[]", "[{\"id\":1,\"name\":\"fern\"}]", "1", "\"fern\"", "null", "true"})
  void json_that_is_no_object_is_refused(String json) {
    assertRefused(json, 1002, "The body must be a JSON object.");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "\r\n"})
  void empty_body_is_refused(String body) {
    assertRefused(body, 1001, "The body must not be empty.");
  }

  @Test
  void deep_nesting_is_refused() {
    Answer answer =
        Answer.toCreate(
            server.getURI(),
            "{\"id\":1,\"name\":\"\",\"x\":" + "[".repeat(1_000) + "]".repeat(1_000) + "}");

    assertError(
        answer,
        400,
        1001,
        "The body must be nested at most 1000 levels deep; reading stopped at line 1, column 1023.");
  }

  @Test
  void body_that_is_not_utf_8_is_refused() {
    String message = "The body must be UTF-8.";
    assertRefused("{\"id\":1,\"name\":\"\u00E9\"}".getBytes(ISO_8859_1), 1001, message);
    assertRefused(name(0xC0, 0xA0), 1001, message); // overlong
    assertRefused(name(0xED, 0xA0, 0x80), 1001, message); // a surrogate
    assertRefused(name(0xED, 0xA0, 0xBC, 0xED, 0xBC, 0xBF), 1001, message); // CESU-8
    assertRefused(name(0xF4, 0x90, 0x80, 0x80), 1001, message); // above U+10FFFF
    assertRefused(name(0xE2, 0x82), 1001, message); // cut off
  }

  @Test
  void utf_16_and_byte_order_marks_are_refused() {
    String message =
        "The body must be valid JSON (RFC 8259) without repeated members; reading stopped at line 1,"
            + " column ";
    String json = "{\"id\":1,\"name\":\"fern\"}";
    assertRefused(json.getBytes(UTF_16BE), 1001, message + "2.");
    assertRefused(json.getBytes(UTF_16LE), 1001, message + "3.");
    assertRefused("\uFEFF" + json, 1001, message + "1.");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "text/plain",
        "text/json",
        "application/xml",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/vnd.api+json",
        "application/json; charset=iso-8859-1",
        "application/json; charset=utf-16",
        "application/json; =",
        "application/jsonx",
        "application",
        "application/json;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b"
            + ";a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b"
            + ";a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b;a=b",
        "/",
        ""
      })
  void another_content_type_is_refused(String contentType) {
    assertError(
        Answer.to(create("{\"id\":1,\"name\":\"fern\"}").setHeader("Content-Type", contentType)),
        400,
        1003,
        "The body must have the Content-Type application/json.");
  }

  @Test
  void content_type_and_encoding_of_an_empty_body_count_too() {
    assertError(
        Answer.to(create("").setHeader("Content-Type", "text/plain")),
        400,
        1003,
        "The body must have the Content-Type application/json.");
    assertError(
        Answer.to(create("").setHeader("Content-Encoding", "gzip")),
        400,
        1004,
        "The body must be sent as it is, without Content-Encoding.");
  }

  @Test
  void missing_or_repeated_content_type_is_refused() {
    HttpRequest.Builder missing =
        HttpRequest.newBuilder(server.getURI().resolve("/plants"))
            .header("Authorization", "Bearer " + Tokens.valid())
            .POST(HttpRequest.BodyPublishers.ofString("{\"id\":1,\"name\":\"fern\"}"));
    String message = "The body must have the Content-Type application/json.";

    assertError(Answer.to(missing), 400, 1003, message);
    assertError(
        Answer.to(
            create("{\"id\":1,\"name\":\"fern\"}").header("Content-Type", "application/json")),
        400,
        1003,
        message);
  }

  @ParameterizedTest
  @ValueSource(strings = {"gzip", "br", "deflate", "identity, gzip", "nonsense"})
  void encoded_body_is_refused(String encoding) throws IOException {
    ByteArrayOutputStream gzipped = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(gzipped)) {
      gzip.write("{\"id\":1,\"name\":\"fern\"}".getBytes(UTF_8));
    }
    assertError(
        Answer.to(
            Answer.request(server.getURI())
                .header("Content-Encoding", encoding)
                .POST(HttpRequest.BodyPublishers.ofByteArray(gzipped.toByteArray()))),
        400,
        1004,
        "The body must be sent as it is, without Content-Encoding.");
  }

  @Test
  void identity_is_no_encoding() {
    assertAnswer(
        Answer.to(create("{\"id\":1,\"name\":\"fern\"}").header("Content-Encoding", "identity")),
        200,
        "{\"name\":\"fern\"}");
  }

  @Test
  void body_of_the_largest_allowed_size_is_read() {
    String start = "{\"id\":1,\"name\":\"";
    String name = "x".repeat(MAX_BODY_BYTES - start.length() - 2);

    assertCreated(start + name + "\"}", new NewPlant(1, name, null), "{\"name\":\"" + name + "\"}");
  }

  @Test
  void larger_body_is_refused() {
    String message = "The body must have at most 1048576 bytes.";
    assertRefused("x".repeat(MAX_BODY_BYTES + 1), 1005, message);
    assertRefused("x".repeat(10 * MAX_BODY_BYTES), 1005, message);
  }

  @Test
  void larger_body_without_a_declared_length_is_refused() {
    assertError(
        Answer.to(
            Answer.request(server.getURI())
                .POST(
                    HttpRequest.BodyPublishers.fromPublisher(
                        HttpRequest.BodyPublishers.ofString("x".repeat(MAX_BODY_BYTES + 1))))),
        400,
        1005,
        "The body must have at most 1048576 bytes.");
    assertEquals(0, createPlant.calls());
  }

  // The store's content and the service's own faults

  @Test
  void taken_id_is_refused_and_the_stored_plant_is_not_revealed() {
    createPlant.behave(plant -> {
      throw new PlantIdTakenException(plant.id());
    });

    assertError(
        Answer.toCreate(server.getURI(), "{\"id\":7,\"name\":\"fern\"}"),
        400,
        3001,
        "id 7 is taken by a plant with another name or tag; choose another id.");
  }

  @Test
  void unavailable_store_asks_to_retry() {
    createPlant.behave(plant -> {
      throw new PlantStoreUnavailableException("secret address");
    });

    Answer answer = Answer.toCreate(server.getURI(), "{\"id\":7,\"name\":\"fern\"}");

    assertError(
        answer,
        503,
        5002,
        "The plant store cannot be reached now; send the same request again later.");
    assertEquals(Optional.of("1"), answer.header("Retry-After"));
  }

  @Test
  void fault_of_the_service_reveals_nothing() {
    createPlant.behave(plant -> {
      throw new IllegalStateException("secret cause");
    });

    Answer answer = Answer.toCreate(server.getURI(), "{\"id\":7,\"name\":\"fern\"}");

    assertError(answer, 500, 5001, "The service has failed; its log says why.");
    assertFalse(answer.header("Retry-After").isPresent());
  }

  @Test
  void plant_is_answered_as_the_port_answers_it() {
    createPlant.behave(plant -> new Plant("from the port", "its tag"));

    assertAnswer(
        Answer.toCreate(server.getURI(), "{\"id\":7,\"name\":\"fern\"}"),
        200,
        "{\"name\":\"from the port\",\"tag\":\"its tag\"}");
  }

  private static byte[] name(int... bytes) {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    body.writeBytes("{\"id\":1,\"name\":\"".getBytes(UTF_8));
    for (int value : bytes) {
      body.write(value);
    }
    body.writeBytes("\"}".getBytes(UTF_8));
    return body.toByteArray();
  }

  private HttpRequest.Builder create(String json) {
    return Answer.request(server.getURI()).POST(HttpRequest.BodyPublishers.ofString(json));
  }

  private void assertCreated(String request, NewPlant plant, String response) {
    assertAnswer(Answer.toCreate(server.getURI(), request), 200, response);
    assertEquals(plant, createPlant.last());
  }

  private void assertRefused(String request, int error, String message) {
    assertRefused(request.getBytes(UTF_8), error, message);
  }

  private void assertRefused(byte[] request, int error, String message) {
    assertError(Answer.toCreate(server.getURI(), request), 400, error, message);
    assertEquals(0, createPlant.calls(), "calls of the port");
  }
}
