package org.plantstore.adapter.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.micronaut.http.HttpHeaders;
import io.micronaut.http.MutableHttpHeaders;
import io.micronaut.http.netty.NettyHttpHeaders;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;

/** The headers that a request must have before its body is read. */
class NewPlantReaderTest {

  private static final String NO_JSON =
      "The body must have the Content-Type application/json, but has ";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Application/JSON \t", "application/json;charset=\"UTF-8\"",
        "application/json ; v=1; x=\"a;b\"", "application/json;; x=\"\\\"\""
      })
  void content_type_is_json_with_any_parameters_but_another_charset(String contentType) {
    NewPlantReader.requireReadable(typed(contentType).add("Content-Encoding", "Identity"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "text/json; charset=utf8", "application/vnd.api+json",
        "application/jsonx", "application/json; charset=\"",
        "application/json; =", "application/json; a=\"\\\""
      })
  void another_content_type_is_refused_by_its_name(String contentType) {
    assertRefused(typed(contentType), NO_JSON + contentType);
  }

  @ParameterizedTest
  @CsvSource({
    "application/json;charset=utf8, utf8",
    "Application/Json ; v=1; CHARSET=\"iso-8859-1\", iso-8859-1",
    "application/json; charset=utf-8; charset=utf-16, utf-16"
  })
  void another_charset_is_refused_by_its_name(String contentType, String charset) {
    assertRefused(typed(contentType), "The charset of the body must be UTF-8, but is " + charset);
  }

  @Test
  void content_type_that_cannot_be_shown_is_described_and_a_long_one_cut() {
    assertRefused(new NettyHttpHeaders(), NO_JSON + "none");
    String json = "application/json";
    assertRefused(typed(json).add("content-type", json), NO_JSON + "several");
    assertRefused(typed(""), NO_JSON + "an empty one");
    assertRefused(typed("a/\u00E9\t~"), NO_JSON + "a/??~");
    String longest = json + ";a=bc".repeat(48);
    NewPlantReader.requireReadable(typed(longest));
    assertRefused(typed(longest + ";"), NO_JSON + longest.substring(0, 64) + "...");
  }

  @ParameterizedTest
  @ValueSource(strings = {"gzip", "identity, gzip", ""})
  void encoding_other_than_identity_is_refused(String encoding) {
    HttpHeaders headers = typed("application/json").add("Content-Encoding", encoding);
    assertEquals(ErrorNumber.CONTENT_ENCODING, refusal(headers).error());
  }

  private static MutableHttpHeaders typed(String contentType) {
    return new NettyHttpHeaders().add("Content-Type", contentType);
  }

  private static void assertRefused(HttpHeaders headers, String sentence) {
    RefusedException refusal = refusal(headers);
    assertEquals(ErrorNumber.CONTENT_TYPE, refusal.error());
    assertEquals(sentence + ".", refusal.getMessage());
  }

  private static RefusedException refusal(HttpHeaders headers) {
    return assertThrows(RefusedException.class, () -> NewPlantReader.requireReadable(headers));
  }
}
