package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.domain.NewPlant;

/** Which bodies are plants, and the refusal of others. */
class NewPlantJsonTest {

  private static final String FERN = "{\"id\":1,\"name\":\"fern\"}";
  private static final String VALID =
      "The body must be valid JSON (RFC 8259) without repeated members; reading stopped at line 1,"
          + " column ";
  private static final String ID_RANGE =
      "id must be from -9223372036854775808 to 9223372036854775807.";

  @Test
  void tag_is_text_null_or_absent() {
    assertRead("{\"id\":1,\"name\":\"\",\"tag\":\"\"}", new NewPlant(1, "", ""));
    assertRead("{\"id\":1,\"name\":\"fern\",\"tag\":null}", new NewPlant(1, "fern", null));
    assertRead(FERN, new NewPlant(1, "fern", null));
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MIN_VALUE, -1, 0, 1, 9_007_199_254_740_993L, Long.MAX_VALUE})
  void every_int64_is_an_id(long id) {
    assertRead("{\"id\":" + id + ",\"name\":\"fern\"}", new NewPlant(id, "fern", null));
  }

  @Test
  void white_space_and_order_do_not_matter() {
    assertRead(
        "\n\t {\r\n \"tag\" : \"shade\" , \"name\" : \"fern\" , \"id\" : -0 } \n",
        new NewPlant(0, "fern", "shade"));
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
    assertRead(
        "{\"\\u0069d\":1,\"name\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}",
        new NewPlant(1, "\"\\/\b\f\n\r\t", null));
  }

  @Test
  void unknown_members_are_ignored() {
    assertRead(
        "{\"color\":{\"id\":[1,{\"name\":null}]},\"id\":1,\"Name\":2,\"name\":\"fern\",\"n\":1"
            + "0".repeat(5_000)
            + ",\""
            + "m".repeat(60_000)
            + "\":1e999999999,\"x\":"
            + "[".repeat(999)
            + "]".repeat(999)
            + "}",
        new NewPlant(1, "fern", null));
  }

  /** The set that finds repeated names keeps names of one hash code in a tree. */
  @Test
  void unknown_members_of_one_hash_code_are_read_as_others_are() {
    List<String> names = List.of("");
    while (names.size() < 8_000) {
      names = names.stream().flatMap(name -> Stream.of(name + "Aa", name + "BB")).toList();
    }
    assertEquals(1, names.stream().map(String::hashCode).distinct().count());
    String members = "\"" + String.join("\":0,\"", names) + "\":0,";

    assertRead("{" + members + FERN.substring(1), new NewPlant(1, "fern", null));
    byte[] repeated = ("{" + members + members + FERN.substring(1)).getBytes(UTF_8);
    assertThrows(RefusedException.class, () -> NewPlantJson.read(repeated));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          "1"  | a string
          1    | a number
          1.0  | a number with a fraction or an exponent
          1e2  | a number with a fraction or an exponent
          true | true
          false| false
          null | null
          {"id":1,"name":"","tag":""} | an object
          [1]  | an array
          """)
  void field_of_another_kind_is_refused(String value, String kind) {
    if (!kind.equals("a number")) {
      assertRefused(
          "{\"id\":" + value + ",\"name\":\"\"}",
          2001,
          "id must be an integer literal, but is " + kind + ".");
    }
    if (!kind.equals("a string")) {
      assertRefused(
          "{\"id\":1,\"name\":" + value + "}", 2002, "name must be a string, but is " + kind + ".");
    }
    if (!kind.equals("a string") && !kind.equals("null")) {
      assertRefused(
          "{\"id\":1,\"name\":\"\",\"tag\":" + value + "}",
          2003,
          "tag must be a string, null or absent, but is " + kind + ".");
    }
  }

  @Test
  void id_outside_of_int64_is_refused() {
    for (String id :
        List.of(
            "9223372036854775808",
            "-9223372036854775809",
            "10000000000000000000",
            "-10000000000000000000",
            "9".repeat(1_000_000))) {
      assertRefused("{\"id\":" + id + ",\"name\":\"\"}", 2001, ID_RANGE);
    }
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

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"name":"fern"} | 2001 | id is required.
          {"id":1}        | 2002 | name is required.
          {}              | 2001 | id is required; name is required.
          {"tag":7,"name":"\\u0000","id":"x"} | 2001 | id must be an integer literal, but is a string; \
          name must not contain U+0000, but has it at index 0; \
          tag must be a string, null or absent, but is a number.
          {"tag":"\\u0000","name":null,"id":1} | 2002 | name must be a string, but is null; \
          tag must not contain U+0000, but has it at index 0.
          """)
  void missing_and_broken_fields_are_all_named_in_order(String body, int number, String message) {
    assertRefused(body, number, message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {"id":1,"name":"fern"                   | 22
          {"id":1,"name":"fern",}                 | 23
          {"id":1 "name":"fern"}                  | 9
          {id:1,"name":"fern"}                    | 2
          {'id':1,'name':'fern'}                  | 2
          {"id":01,"name":"fern"}                 | 8
          {"id":+1,"name":"fern"}                 | 8
          {"id":NaN,"name":"fern"}                | 10
          {"id":0x1,"name":"fern"}                | 8
          {"id":1,"name":"fern"} // comment       | 24
          {"id":1,/* comment */"name":"fern"}     | 9
          {"id":1,"name":"fe\\x"}                 | 20
          `{"id":1,"name":"fe\nrn"}`              | 19
          {"id":1,"id":1,"name":"fern"}           | 13
          {"id":1,"n":{"a":1,"a":2},"name":"fern"}| 23
          {"id":1,"\\u0069d":2,"name":"fern"}     | 18
          {"id":1,"name":"fern"}x                 | 23
          {"id":1,"name":"fern"}]                 | 23
          {"\\udbff":1,"id":1,"name":"fern",}     | 34
          {"\\udbff":1,"\\uDBFF":2,"id":1}        | 21
          {"fern":1,"fe\\udc00                    | 20
          [fern]                                  | 2
          [{"id":1,"name":"fern"}                 | 24
          [[{"id":1,"id":1}]]                     | 15
          [007]                                   | 3
          ["fe\\x"]                               | 6
          [1.e3]                                  | 3
          "fern                                   | 6
          2.                                      | 2
          nil                                     | 1
          nil,                                    | 1
          """)
  void malformed_json_is_refused_where_it_breaks(String json, int column) {
    assertRefused(json, 1001, VALID + column + ".");
  }

  @Test
  void body_that_is_not_one_object_is_refused() {
    for (String value : List.of(FERN, "[0,1,2,3,4,5,6,7,8,9]", "\"" + "a".repeat(20) + "\"")) {
      for (String trailing : List.of("{}", "1", FERN, "[", "\"\"")) {
        assertRefused(
            "\n" + value + " ".repeat(22 - value.length()) + trailing,
            1001,
            "The body must be one JSON object without anything after it; reading stopped at line 2,"
                + " column 23.");
      }
    }
    for (String json :
        List.of(
            "[" + FERN + "]",
            "1",
            "-2e99999",
            "\"fern\"",
            "null",
            "true",
            "[".repeat(1_000) + "]".repeat(1_000),
            "[{\"\\udfff\":\"\\ud800\"}]")) {
      assertRefused(json, 1002, "The body must be a JSON object.");
    }
    for (String body : List.of("", " ", "\r\n")) {
      assertRefused(body, 1001, "The body must not be empty.");
    }
  }

  @Test
  void escaped_surrogate_without_its_other_half_is_ignored_where_the_member_is() {
    assertRead(
        "{\"a\\udfff\":\"\\ud83c\",\"\\\\udfff\":1,\"\\uDBFF\\udbff\\udfff\":{\"\\ud800\":[]},"
            + FERN.substring(1, FERN.length() - 1)
            + ",\"tag\":\"\\uD83C\\udf3f \\\\ud800\"}",
        new NewPlant(1, "fern", "\uD83C\uDF3F \\ud800"));
    assertRefused(
        "{\"\\udfff\":1,\"id\":1,\"name\":\"fe\\udfff\"}",
        2002,
        "name must not contain an unpaired surrogate, but has it at index 2.");
  }

  @Test
  void deep_nesting_is_refused() {
    assertRefused(
        "[".repeat(1_001),
        1001,
        "The body must be nested at most 1000 levels deep; reading stopped at line 1, column 1002.");
    assertRefused(
        "{\"id\":1,\"name\":\"\",\"x\":" + "[".repeat(1_000) + "]".repeat(1_000) + "}",
        1001,
        "The body must be nested at most 1000 levels deep; reading stopped at line 1, column 1023.");
  }

  @Test
  void other_encodings_and_a_byte_order_mark_are_refused() {
    for (String bytes :
        List.of(
            "\u00E9", // Latin-1
            "\u00C0\u00A0", // overlong
            "\u00ED\u00A0\u0080", // a surrogate
            "\u00ED\u00A0\u00BC\u00ED\u00BC\u00BF", // CESU-8
            "\u00F4\u0090\u0080\u0080", // above U+10FFFF
            "\u00E2\u0082")) { // cut off
      byte[] body = ("{\"id\":1,\"name\":\"" + bytes + "\"}").getBytes(ISO_8859_1);
      assertRefused(body, 1001, "The body must be UTF-8.");
    }
    assertRefused(FERN.getBytes(UTF_16BE), 1001, VALID + "2.");
    assertRefused(FERN.getBytes(UTF_16LE), 1001, VALID + "3.");
    String message = "The body must not begin with a byte order mark (RFC 8259, section 8.1).";
    assertRefused("\uFEFF", 1001, message);
    assertRefused("\uFEFF" + FERN, 1001, message);
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
