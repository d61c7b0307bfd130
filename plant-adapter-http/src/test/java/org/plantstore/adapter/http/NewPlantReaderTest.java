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

  @ParameterizedTest
  @ValueSource(
      strings = {
        "application/json", "Application/JSON \t",
        "application/json; charset=utf-8", "application/json;charset=\"UTF-8\"",
        "application/json ; v=1; x=\"a;b\"", "application/json;; x=\"\\\"\""
      })
  void content_type_is_json_with_any_parameters_but_another_charset(String contentType) {
    NewPlantReader.requireReadable(typed(contentType));
    NewPlantReader.requireReadable(typed(contentType).add("Content-Encoding", "Identity"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "text/json; charset=utf8", "application/vnd.api+json",
        "application/jsonx", "application/json; charset=\"",
        "application", "application/json; =",
        "/", "application/json; a=\"\\\""
      })
  void another_content_type_is_refused_by_its_name(String contentType) {
    assertContentTypeRefused(typed(contentType), contentType);
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
    assertContentTypeRefused(new NettyHttpHeaders(), "none");
    assertContentTypeRefused(
        typed("application/json").add("content-type", "application/json"), "several");
    assertContentTypeRefused(typed(""), "an empty one");
    assertContentTypeRefused(typed("a/\u00E9\t~"), "a/??~");
    String longest = "application/json" + ";a=bc".repeat(48);
    NewPlantReader.requireReadable(typed(longest));
    assertContentTypeRefused(typed(longest + ";"), longest.substring(0, 64) + "...");
    assertContentTypeRefused(typed("x".repeat(64)), "x".repeat(64));
  }

  @ParameterizedTest
  @ValueSource(strings = {"gzip", "identity, gzip", "nonsense", ""})
  void encoding_other_than_identity_is_refused(String encoding) {
    HttpHeaders headers = typed("application/json").add("Content-Encoding", encoding);
    assertEquals(ErrorNumber.CONTENT_ENCODING, refusal(headers).error());
  }

  private static MutableHttpHeaders typed(String contentType) {
    return new NettyHttpHeaders().add("Content-Type", contentType);
  }

  private static void assertContentTypeRefused(HttpHeaders headers, String name) {
    assertRefused(headers, "The body must have the Content-Type application/json, but has " + name);
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
