package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static java.util.stream.IntStream.range;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MutableHttpHeaders;
import io.micronaut.http.netty.NettyHttpHeaders;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.NewPlant;

/** Tests which headers and bodies are accepted, and how others are refused. */
class NewPlantJsonTest {

  private static final String FERN = ServerTest.FERN;
  private static final String INVALID = "The body is not valid JSON (RFC 8259)";
  private static final String CORRECT =
      "correct the JSON there, or generate the body with a JSON library.";
  private static final String EXAMPLE = "such as {\"id\":1,\"name\":\"fern\"}.";

  private static final JsonMapper STRICT =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  /** The second column contains the fault that the refusal quotes, or nothing. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          Application/JSON                                | ``
          application/json;charset="UTF-8"                | ``
          application/json;charset=utf8                   | ``
          application/json; CHARSET = unicode-1-1-utf-8   | ``
          application/json; v=1; charset="us-ascii"       | ``
          application/json; charset=ANSI_X3.4-1968; v=1   | ``
          application/json ; v=1; x="a; charset=latin1"   | ``
          application/json; charset=utf-8, application/json | ``
          application/json; charset=; charset="; x="\\"   | ``
          application/json;; =; a/b; \u00E9                | ``
          text/json; charset=utf8                         | NO_JSON text/json; charset=utf8
          application/jsonx                               | NO_JSON application/jsonx
          application/json, application/json              | NO_JSON application/json, application/json
          ;application/json                               | NO_JSON ;application/json
          ``                                              | NO_JSON
          a/\u00E9\t~                                     | NO_JSON a/\u00E9\\u0009~
          "application/json"                              | NO_JSON \\"application/json\\"
          'application/json'; v=1                         | NO_JSON 'application/json'; v=1
          application/json;charset=utf-88                 | NO_UTF8 utf-88
          application/json; charset='utf-8'               | NO_UTF8 'utf-8'
          Application/Json ; v=1; CHARSET="iso-8859-1"    | NO_UTF8 iso-8859-1
          application/json; charset=utf-8; charset=utf-16 | NO_UTF8 utf-16
          """)
  void content_type_must_be_json_and_its_charset_utf_8_but_other_parameters_are_ignored(
      String type, String fault) {
    assertReadable(typed(type), fault);
  }

  @Test
  void every_content_type_must_be_json_and_every_content_encoding_identity() {
    assertReadable(new NettyHttpHeaders(), "NO_JSON");
    String json = "application/json";
    assertReadable(typed(json).add("content-type", json), "");
    assertReadable(typed(json).add("content-type", "a/b"), "NO_JSON a/b");
    String longest = json + ";a=\"b".repeat(4_000);
    assertReadable(typed(longest), "");
    String excerpt = ("x" + longest).replace("\"", "\\\"").substring(0, 64) + "...";
    assertReadable(typed("x" + longest), "NO_JSON " + excerpt);
    assertReadable(typed(json).add("Content-Encoding", "Identity"), "");
    assertReadable(typed(json).add("Content-Encoding", ""), "");
    for (String encoding : List.of("gzip", "identity, gzip")) {
      assertReadable(typed(json).add("Content-Encoding", encoding), "ENCODED");
    }
  }

  private static MutableHttpHeaders typed(String contentType) {
    return new NettyHttpHeaders().add("Content-Type", contentType);
  }

  private static void assertReadable(HttpHeaders headers, String fault) {
    RefusedException refusal = NewPlantReader.refusalOf(headers);
    String type = "The Content-Type must be application/json, but is ";
    String advice = "; send the header \"Content-Type: application/json\".";
    assertEquals(
        fault
            .replaceFirst("^NO_JSON$", type + "missing" + advice)
            .replaceFirst("(?s)^NO_JSON (.*)", type + "\"$1\"" + advice)
            .replaceFirst(
                "^NO_UTF8 (.*)",
                "The charset in the Content-Type must be UTF-8, but is \"$1\"; encode the body in"
                    + " UTF-8, and correct or omit the charset.")
            .replaceFirst(
                "^ENCODED$",
                "The body must be sent uncompressed, without a Content-Encoding header."),
        refusal == null ? "" : refusal.getMessage());
  }

  @Test
  void every_int64_and_no_other_number_is_a_valid_id() {
    for (String id : List.of("-9223372036854775808", "-0", "9223372036854775807")) {
      assertRead("{\"id\":" + id + ",\"name\":\"\"}", new NewPlant(Long.parseLong(id), "", null));
    }
    String message =
        "id must be an integer from -9223372036854775808 to 9223372036854775807 (JavaScript rounds"
            + " integers beyond 2^53), but is ";
    for (String id : List.of("9223372036854775808", "-9223372036854775809", "9".repeat(999_999))) {
      String found = id.length() < 64 ? id + "." : "9".repeat(64) + "...";
      assertRefused("{\"id\":" + id + ",\"name\":\"\"}", 2001, message + found);
    }
  }

  @Test
  void every_character_is_preserved_whether_plain_or_escaped() {
    StringBuilder all = new StringBuilder();
    IntStream.rangeClosed(1, Character.MAX_CODE_POINT)
        .filter(point -> point < Character.MIN_SURROGATE || point > Character.MAX_SURROGATE)
        .forEach(all::appendCodePoint);
    StringBuilder escaped = new StringBuilder();
    all.chars()
        .forEach(unit -> escaped.append("\\u").append(HexFormat.of().toHexDigits((char) unit)));
    String text = all.substring(all.indexOf(" "));
    String plain = text.replace("\\", "\\\\").replace("\"", "\\\"");

    assertRead(
        "{\"id\":1,\"name\":\"" + plain + "\",\"tag\":\"" + escaped + "\"}",
        new NewPlant(1, text, all.toString()));
  }

  @Test
  void unknown_members_are_ignored() {
    String large = "\"n\":1" + "0".repeat(5_000) + ",\"" + "m".repeat(60_000) + "\":1e999999999,";
    String deep = "\"x\":" + "[".repeat(999) + "]".repeat(999) + ",";

    assertRead(
        "{\"a\":{\"id\":[1,{\"name\":null}]},\"Name\":2," + large + deep + FERN.substring(1),
        new NewPlant(1, "fern", null));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"tag":""} | 2001 | id is required; name is required.
          {"id":null,"name":true} | 2001 | id must be an integer, but is null; \
          name must be a string in quotation marks, but is true.
          {"tag":[1],"name":"\\u0000","id":"1"} | 2001 | \
          id must be an integer without quotation marks, but is "1"; \
          name must not contain U+0000 (found at index 0); \
          tag must be a string in quotation marks, null, or absent, but is an array.
          {"tag":{"name":"","id":1},"name":7,"id":1.0} | 2001 | \
          id must be an integer without a fraction or an exponent, but is 1.0; \
          name must be a string in quotation marks, but is 7; \
          tag must be a string in quotation marks, null, or absent, but is an object.
          {"id":-1e+21,"name":""} | 2001 | \
          id must be an integer without a fraction or an exponent, but is -1e+21.
          {"id":"a\\u0000\\ud83c\\u202e\u00E9\u9752","name":""} | 2001 | \
          id must be an integer without quotation marks, but is "a\\u0000\\ud83c\\u202e\u00E9\u9752".
          {"id":"-907","name":""} | 2001 | \
          id must be an integer without quotation marks, but is "-907".
          {"tag":"\\u0000","name":null,"id":1} | 2002 | \
          name must be a string in quotation marks, but is null; \
          tag must not contain U+0000 (found at index 0).
          {"tag":"fe\\udf3f\\ud83c","id":1,"name":""} | 2003 | \
          tag must not contain an unpaired surrogate (found at index 2).
          """)
  void every_missing_or_invalid_field_is_reported_in_order(
      String body, int number, String message) {
    assertRefused(body, number, message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"Id":1,"NAME":"fern","tag":""} | 2001 | id is required; name is required. | "Id", "NAME"
          {"plant":{"id":1,"name":"fern"}} | 2001 | id is required; name is required. | "plant"
          {"plants":[{"id":1}],"meta":{}} | 2001 | id is required; name is required. | "plants", "meta"
          {"id":1,"name ":"","":0} | 2002 | name is required. | "name ", ""
          {"\\u0000i\\u200bd":1,"name":5} | 2001 | id is required; \
          name must be a string in quotation marks, but is 5. | "\\u0000i\\u200bd"
          """)
  void unknown_members_are_listed_if_a_required_field_is_missing(
      String body, int number, String message, String names) {
    String hint = "; send id and name, spelled exactly like this, at the top level.";
    assertRefused(body, number, message + " The body contains " + names + hint);
  }

  @Test
  void refusal_lists_a_limited_number_of_shortened_member_names() {
    String body =
        range(0, 9).mapToObj(n -> "\"" + n + "x".repeat(99_999) + "\":1").collect(joining(","));
    String names =
        range(0, 8).mapToObj(n -> "\"" + n + "x".repeat(63) + "...\"").collect(joining(", "));
    unknown_members_are_listed_if_a_required_field_is_missing(
        "{\"name\":\"\"," + body + "}", 2001, "id is required.", names);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {"id":1,"name":"fern",}                 | 23 | id":1,"name":"fern",}
          {"id":1,/* comment */"name":"fern"}     | 9  | {"id":1,/* comment */"name":
          {"id":1 "name":"fern"}                  | 9  | {"id":1 "name":"fern"}
          {"id":1,"tag":None,"name":"fern"}       | 15 | {"id":1,"tag":None,"name":"fern"}
          {"id"=>1,"name"=>"fern"}                | 6  | {"id"=>1,"name"=>"fern"}
          {"id":1,"x":{'a':1}}                    | 14 | {"id":1,"x":{'a':1}}
          {"id":1}x                               | 9  | {"id":1}x
          [object Object]                         | 2  | [object Object]
          '{"id":1}'                              | 1  | '{"id":1}'
          {\u201Cid\u201D:1}                                  | 2  | {\\u201cid\\u201d:1}
          %7B%22id%22%3A1%7D                      | 1  | %7B%22id%22%3A1%7D
          {"\\udbff":1,"\\uDC00":1}                | 9  | {"\\udbff":1,"\\uDC00":1}
          """)
  void refusal_of_malformed_json_quotes_the_place_of_the_fault(
      String json, int column, String near) {
    assertMalformed(json, INVALID, column, near, CORRECT);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{",
        "{\"",
        "{\"id\":",
        "{\"id\":1,",
        "{\"id\":1",
        "{\"name\":\"fern",
        "[[1]",
        "\"f"
      })
  void refusal_of_truncated_json_quotes_its_end(String json) {
    String fault = "The body is cut off";
    assertMalformed(json, fault, json.length() + 1, json, "send a complete JSON object.");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {"id":1,"id":2}                         | id | 13 | {"id":1,"id":2}
          {"id":1,"\\u0069d":2,"name":"fern"}     | id | 18 | {"id":1,"\\u0069d":2,"name":"fern"}
          {"x":1,"a":[{"y\\n":2,"z":3,"y\\n":4}]} | y\\u000a | 33 | {"y\\n":2,"z":3,"y\\n":4}]}
          [[{"id":1,"id":1}]]                     | id | 15 | [[{"id":1,"id":1}]]
          {"a\\"\\\\b":1,"a\\"\\\\b":2}               | a\\"\\\\b | 21 | {"a\\"\\\\b":1,"a\\"\\\\b":2}
          """)
  void refusal_of_a_repeated_member_quotes_and_escapes_its_name(
      String json, String name, int column, String near) {
    String fault = "The body repeats the member \"" + name + '"';
    assertMalformed(json, fault, column, near, "send each member only once.");
  }

  private static void assertMalformed(
      String json, String fault, int column, String near, String advice) {
    String place = " at line 1, column " + column + ", near '" + near + "'; ";
    assertRefused(json, 1001, fault + place + advice);
  }

  @Test
  void body_other_than_a_single_object_is_refused() {
    String several = "The body contains a second JSON value";
    String advice = "send only one plant.";
    assertMalformed("[0,1] [", several, 7, "[0,1] [", advice);
    assertMalformed("\"fern\" {}", several, 8, "\"fern\" {}", advice);
    String second = " at line 2, column 3, near '\"id\":1,\"name\":\"\"}\\u000a  {}'; ";
    assertRefused("{\"id\":1,\"name\":\"\"}\n  {}", 1001, several + second + advice);
    String object = "The body must be a JSON object, but is ";
    String onePlant = "an array; send one plant per request, " + EXAMPLE;
    assertRefused("[" + FERN + "]", 1002, object + onePlant);
    String twice = "\"" + FERN.replace("\"", "\\\"") + "\"";
    for (String json : List.of("-2e99999", "\"fern\"", "null", "true", twice)) {
      assertRefused(json, 1002, object + json + "; send an object " + EXAMPLE);
    }
    assertRefused(" \r\n", 1001, "The body is empty; send a JSON object " + EXAMPLE);
  }

  @Test
  void unpaired_surrogate_in_an_ignored_value_is_accepted() {
    assertRead(
        "{\"a\":\"\\ud83c\",\"\\\\udfff\":{\"\\uD83C\\udf3f\":[\"\\udfff\"]},"
            + FERN.substring(1, FERN.length() - 1)
            + ",\"tag\":\"\\uD83C\\udf3f \\\\ud800\"}",
        new NewPlant(1, "fern", "\uD83C\uDF3F \\ud800"));
  }

  @Test
  void nesting_deeper_than_1000_levels_is_refused() {
    String nested = "[".repeat(1_000) + "]".repeat(1_000);
    String fault = "The body is nested more than 1000 levels deep";
    String array =
        "The body must be a JSON object, but is an array; send one plant per request, " + EXAMPLE;

    assertRefused(nested, 1002, array);
    String near = "[".repeat(20) + "]".repeat(20);
    assertMalformed("[" + nested, fault, 1002, near, "use fewer levels.");
    String body = "{\"id\":1,\"name\":\"\",\"x\":" + nested + "}";
    assertMalformed(body, fault, 1023, near, "use fewer levels.");
  }

  @Test
  void other_encodings_and_a_byte_order_mark_are_refused() {
    for (String bytes : List.of("\u00E9", "\u00ED\u00A0\u0080")) { // Latin-1, a surrogate
      byte[] body = ("{\"id\":1,\"name\":\"" + bytes + "\"}").getBytes(ISO_8859_1);
      String place = "byte 17 (0x" + (bytes.equals("\u00E9") ? "E9" : "ED") + ")";
      String fault = "The body is not valid UTF-8 at " + place;
      assertRefused(body, 1001, fault + "; encode the entire body in UTF-8.");
    }
    assertMalformed("\uFEFF" + FERN, INVALID, 1, "\\ufeff" + FERN.substring(0, 19), CORRECT);
  }

  /** Changes or inserts every byte at every position of a body, and removes every part of it. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"id\":-12,\"name\":\"f\u00E9rn\",\"tag\":null}",
        " {\"x\":[1.5e+3,{\"a\":true}],\"tag\":\"\\ud83c\\udf3f\\/\",\n\"\\u006eame\":\"\uD83C\uDF3F\","
            + "\"id\":9223372036854775807 } ",
        "[ -1.5e+3,{\"a\":true,\"b\":\"\\u00e9\\/\"}, null,[]]"
      })
  void changed_body_is_read_exactly_as_a_strict_parser_reads_it(String body) {
    String bytes = new String(body.getBytes(UTF_8), ISO_8859_1); // one character per byte
    requireReadAlike(bytes, 0, 0, "");
    for (int from = 0; from <= bytes.length(); from++) {
      for (int to = from + 1; to <= bytes.length(); to++) {
        requireReadAlike(bytes, from, to, "");
      }
      for (char value = 0; value < 256; value++) {
        requireReadAlike(bytes, from, from, String.valueOf(value));
        requireReadAlike(bytes, from, from + 1, String.valueOf(value));
      }
    }
  }

  private static void requireReadAlike(String bytes, int from, int to, String replacement) {
    String changed = new StringBuilder(bytes).replace(from, to, replacement).toString();
    byte[] body = changed.getBytes(ISO_8859_1);
    Object read;
    try {
      read = NewPlantReader.parse(body);
    } catch (RefusedException e) {
      assertEquals(HttpStatus.BAD_REQUEST, e.error().status());
      read = e.error().number() < 2000 ? e.error() : "a refused field";
    }
    assertEquals(expected(body), read, changed);
  }

  private static Object expected(byte[] body) {
    try {
      JsonNode plant = STRICT.readTree(UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString());
      if (!plant.isObject()) {
        return plant.isMissingNode() ? ErrorNumber.MALFORMED_JSON : ErrorNumber.NOT_AN_OBJECT;
      }
      JsonNode tag = plant.path("tag");
      return plant.path("id").isIntegralNumber()
              && plant.path("id").canConvertToLong()
              && plant.path("name").isTextual()
              && (tag.isTextual() || tag.isNull() || tag.isMissingNode())
          ? new NewPlant(
              plant.path("id").longValue(), plant.path("name").textValue(), tag.textValue())
          : "a refused field";
    } catch (InvalidPlantException e) {
      return "a refused field";
    } catch (IOException e) {
      return ErrorNumber.MALFORMED_JSON;
    }
  }

  private static void assertRead(String body, NewPlant plant) {
    assertEquals(plant, NewPlantReader.parse(body.getBytes(UTF_8)));
  }

  private static void assertRefused(String body, int number, String message) {
    assertRefused(body.getBytes(UTF_8), number, message);
  }

  private static void assertRefused(byte[] body, int number, String message) {
    RefusedException refusal =
        assertThrows(RefusedException.class, () -> NewPlantReader.parse(body));
    assertEquals(message, refusal.getMessage());
    assertEquals(number, refusal.error().number());
  }
}
