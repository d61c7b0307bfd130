package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_16LE;
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
import java.nio.charset.Charset;
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

/** Which headers and bodies are those of a plant, and the refusal of others. */
class NewPlantJsonTest {

  private static final String FERN = ServerTest.FERN;
  private static final String VALID = "The body must be valid JSON (RFC 8259).";

  private static final JsonMapper STRICT =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  /** The fault that is told, or none. */
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
          ``                                              | NO_JSON none
          a/\u00E9\t~                                     | NO_JSON a/\u00E9\\u0009~
          "application/json"                              | NO_JSON "application/json"
          'application/json'; v=1                         | NO_JSON 'application/json'; v=1
          application/json;charset=utf-88                 | NO_UTF8 utf-88
          application/json; charset='utf-8'               | NO_UTF8 'utf-8'
          Application/Json ; v=1; CHARSET="iso-8859-1"    | NO_UTF8 iso-8859-1
          application/json; charset=utf-8; charset=utf-16 | NO_UTF8 utf-16
          """)
  void content_type_is_json_with_any_parameters_but_another_charset(String type, String fault) {
    assertReadable(typed(type), fault);
  }

  @Test
  void each_content_type_is_json_and_each_encoding_is_identity() {
    assertReadable(new NettyHttpHeaders(), "NO_JSON none");
    String json = "application/json";
    assertReadable(typed(json).add("content-type", json), "");
    assertReadable(typed(json).add("content-type", "a/b"), "NO_JSON a/b");
    String longest = json + ";a=\"b".repeat(4_000);
    assertReadable(typed(longest), "");
    assertReadable(typed("x" + longest), "NO_JSON x" + longest.substring(0, 63) + "...");
    assertReadable(typed(json).add("Content-Encoding", "Identity"), "");
    assertReadable(typed(json).add("Content-Encoding", ""), "");
    String encoded = "The body must be sent uncompressed, without a Content-Encoding";
    for (String encoding : List.of("gzip", "identity, gzip")) {
      assertReadable(typed(json).add("Content-Encoding", encoding), encoded);
    }
  }

  private static MutableHttpHeaders typed(String contentType) {
    return new NettyHttpHeaders().add("Content-Type", contentType);
  }

  private static void assertReadable(HttpHeaders headers, String fault) {
    RefusedException refusal = NewPlantReader.refusalOf(headers);
    String told = refusal == null ? "" : String.valueOf(refusal.getMessage());
    String message =
        fault
            .replace("NO_JSON", "The body must have the Content-Type application/json, but has")
            .replace("NO_UTF8", "The charset of the body must be UTF-8, but is");
    assertEquals(message.isEmpty() ? "" : message + ".", told);
  }

  @Test
  void every_int64_is_an_id_and_no_other_number() {
    for (String id : List.of("-9223372036854775808", "-0", "9223372036854775807")) {
      assertRead("{\"id\":" + id + ",\"name\":\"\"}", new NewPlant(Long.parseLong(id), "", null));
    }
    String message =
        "id must be an integer from -9223372036854775808 to 9223372036854775807 (JavaScript rounds"
            + " numbers beyond 2^53), but is ";
    for (String id : List.of("9223372036854775808", "-9223372036854775809", "9".repeat(999_999))) {
      String found = id.length() < 64 ? id + "." : "9".repeat(64) + "...";
      assertRefused("{\"id\":" + id + ",\"name\":\"\"}", 2001, message + found);
    }
  }

  @Test
  void every_character_is_read_exactly_both_plain_and_escaped() {
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
          tag must be a string in quotation marks, null or absent, but is an array.
          {"tag":{"name":"","id":1},"name":7,"id":1.0} | 2001 | \
          id must be an integer without fraction or exponent, but is 1.0; \
          name must be a string in quotation marks, but is 7; \
          tag must be a string in quotation marks, null or absent, but is an object.
          {"id":-1e+21,"name":""} | 2001 | \
          id must be an integer without fraction or exponent, but is -1e+21.
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
  void missing_and_broken_fields_are_all_named_in_order(String body, int number, String message) {
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
  void members_that_may_have_been_meant_are_named(
      String body, int number, String message, String names) {
    String hint = "; put id and name at its top level, spelled exactly so.";
    assertRefused(body, number, message + " The body contains " + names + hint);
  }

  @Test
  void number_and_length_of_members_in_a_message_are_limited() {
    String body =
        range(0, 9).mapToObj(n -> "\"" + n + "x".repeat(99_999) + "\":1").collect(joining(","));
    String names =
        range(0, 8).mapToObj(n -> "\"" + n + "x".repeat(63) + "...\"").collect(joining(", "));
    members_that_may_have_been_meant_are_named(
        "{\"name\":\"\"," + body + "}", 2001, "id is required.", names + " and others");
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
  void malformed_json_is_refused_where_it_breaks(String json, int column, String near) {
    assertMalformed(json, VALID, column, near);
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
  void truncated_json_is_refused_at_its_end(String json) {
    String demand = "The body must be valid JSON (RFC 8259), but ends before it is complete.";
    assertMalformed(json, demand, json.length() + 1, json);
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
          """)
  void repeated_member_is_named(String json, String name, int column, String near) {
    assertMalformed(json, "The body must not repeat the member \"" + name + "\".", column, near);
  }

  private static void assertMalformed(String json, String demand, int column, String near) {
    String place = " Reading stopped at line 1, column " + column + ", near '" + near + "'.";
    assertRefused(json, 1001, demand + place);
  }

  @Test
  void body_that_is_not_one_object_is_refused() {
    String alone = "The body must be one JSON object without anything after it.";
    assertMalformed("[0,1] [", alone, 7, "[0,1] [");
    assertMalformed("\"fern\" {}", alone, 8, "\"fern\" {}");
    String second =
        " Reading stopped at line 2, column 3, near '\"id\":1,\"name\":\"\"}\\u000a  {}'.";
    assertRefused("{\"id\":1,\"name\":\"\"}\n  {}", 1001, alone + second);
    String object = "The body must be a JSON object, but is ";
    assertRefused("[" + FERN + "]", 1002, object + "an array; send one plant per request.");
    for (String json : List.of("-2e99999", "\"fern\"", "null", "true")) {
      assertRefused(json, 1002, object + json + ".");
    }
    String twice = "\"" + FERN.replace("\"", "\\\"") + "\"";
    assertRefused(twice, 1002, object + '"' + FERN + "\".");
    assertRefused(
        " \r\n",
        1001,
        "The body must be a JSON object, such as {\"id\":1,\"name\":\"fern\"}, but is empty.");
  }

  @Test
  void unpaired_surrogate_is_ignored_in_a_value_that_is_ignored() {
    assertRead(
        "{\"a\":\"\\ud83c\",\"\\\\udfff\":{\"\\uD83C\\udf3f\":[\"\\udfff\"]},"
            + FERN.substring(1, FERN.length() - 1)
            + ",\"tag\":\"\\uD83C\\udf3f \\\\ud800\"}",
        new NewPlant(1, "fern", "\uD83C\uDF3F \\ud800"));
  }

  @Test
  void deep_nesting_is_refused() {
    String nested = "[".repeat(1_000) + "]".repeat(1_000);
    String limit = "The body must be nested at most 1000 levels deep.";
    String array = "The body must be a JSON object, but is an array; send one plant per request.";

    assertRefused(nested, 1002, array);
    assertMalformed("[" + nested, limit, 1002, "[".repeat(20) + "]".repeat(20));
    String body = "{\"id\":1,\"name\":\"\",\"x\":" + nested + "}";
    assertMalformed(body, limit, 1023, "[".repeat(20) + "]".repeat(20));
  }

  @Test
  void other_encodings_and_a_byte_order_mark_are_refused() {
    for (String bytes : List.of("\u00E9", "\u00ED\u00A0\u0080")) { // Latin-1, a surrogate
      byte[] body = ("{\"id\":1,\"name\":\"" + bytes + "\"}").getBytes(ISO_8859_1);
      assertRefused(body, 1001, "The body must be encoded in UTF-8, but is not at byte 17.");
    }
    for (Charset charset : List.of(UTF_16LE, UTF_16BE)) {
      assertRefused(
          FERN.getBytes(charset),
          1001,
          "The body must be encoded in UTF-8, but looks like UTF-16 or UTF-32.");
    }
    assertMalformed("\uFEFF" + FERN, VALID, 1, "\\ufeff" + FERN.substring(0, 19));
  }

  /** Bodies that differ from well-formed ones in any single byte, or lack any part. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"id\":-12,\"name\":\"f\u00E9rn\",\"tag\":null}",
        " {\"x\":[1.5e+3,{\"a\":true}],\"tag\":\"\\ud83c\\udf3f\\/\",\n\"\\u006eame\":\"\uD83C\uDF3F\","
            + "\"id\":9223372036854775807 } ",
        "[ -1.5e+3,{\"a\":true,\"b\":\"\\u00e9\\/\"}, null,[]]"
      })
  void changed_body_is_read_as_strict_json_or_refused(String body) {
    String bytes = new String(body.getBytes(UTF_8), ISO_8859_1); // one character each
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
      read = NewPlantJson.read(body);
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
    assertEquals(plant, NewPlantJson.read(body.getBytes(UTF_8)));
  }

  private static void assertRefused(String body, int number, String message) {
    assertRefused(body.getBytes(UTF_8), number, message);
  }

  private static void assertRefused(byte[] body, int number, String message) {
    RefusedException refusal = assertThrows(RefusedException.class, () -> NewPlantJson.read(body));
    assertEquals(message, refusal.getMessage());
    assertEquals(number, refusal.error().number());
  }
}
