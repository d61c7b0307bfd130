package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.micronaut.http.HttpHeaders;
import io.micronaut.http.netty.NettyHttpHeaders;
import io.micronaut.http.server.HttpServerConfiguration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.domain.NewPlant;

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
    assertDoesNotThrow(() -> NewPlantReader.requireReadable(headers("Content-Type", contentType)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "text/plain", "text/json; charset=utf-8",
        "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
        "application/vnd.api+json", "application/json; charset=iso-8859-1",
        "application/json; charset=utf-8; charset=utf-16", "application/json; charset=\"",
        "application/json; =", "application/json; a=\"\\\"",
        "application/jsonx", "application",
        "/"
      })
  void another_content_type_is_refused_by_its_name(String contentType) {
    assertContentTypeRefused(headers("Content-Type", contentType), contentType);
  }

  @Test
  void content_type_that_cannot_be_shown_is_described() {
    assertContentTypeRefused(headers("Content-Length", "2"), "none");
    assertContentTypeRefused(
        headers("Content-Type", "application/json", "content-type", "application/json"), "several");
    assertContentTypeRefused(headers("Content-Type", ""), "an empty one");
    assertContentTypeRefused(headers("Content-Type", "a/\u00E9\t~"), "a/??~");
  }

  @Test
  void long_content_type_is_refused_by_its_beginning() {
    String longest = "application/json" + ";a=bc".repeat(48);
    assertDoesNotThrow(() -> NewPlantReader.requireReadable(headers("Content-Type", longest)));
    assertContentTypeRefused(
        headers("Content-Type", longest + ";"), longest.substring(0, 64) + "...");
    assertContentTypeRefused(headers("Content-Type", "x".repeat(64)), "x".repeat(64));
  }

  @ParameterizedTest
  @ValueSource(strings = {"gzip", "br", "deflate", "identity, gzip", "nonsense", ""})
  void encoding_other_than_identity_is_refused(String encoding) {
    HttpHeaders headers = headers("Content-Type", "application/json", "Content-Encoding", encoding);
    assertEquals(ErrorNumber.CONTENT_ENCODING, refusal(headers).error());
    assertDoesNotThrow(() ->
        NewPlantReader.requireReadable(
            headers("Content-Type", "application/json", "Content-Encoding", "Identity")));
  }

  @Test
  void large_body_is_read_by_the_executor() {
    Queue<Runnable> submitted = new ArrayDeque<>();
    NewPlantReader newPlants = new NewPlantReader(new HttpServerConfiguration(), submitted::add);
    String fern = "{\"id\":1,\"name\":\"fern\"}";
    byte[] largest =
        fern.indent(NewPlantReader.MAX_EVENT_LOOP_BYTES - fern.length() - 1).getBytes(UTF_8);
    byte[] larger = (" " + new String(largest, UTF_8)).getBytes(UTF_8);

    assertEquals("fern", newPlants.parse(largest).join().name());
    CompletableFuture<NewPlant> plant = newPlants.parse(larger);
    assertFalse(plant.isDone());
    submitted.element().run();
    assertEquals("fern", plant.join().name());
  }

  private static HttpHeaders headers(String... headers) {
    NettyHttpHeaders result = new NettyHttpHeaders();
    for (int index = 0; index < headers.length; index += 2) {
      result.add(headers[index], headers[index + 1]);
    }
    return result;
  }

  private static void assertContentTypeRefused(HttpHeaders headers, String name) {
    RefusedException refusal = refusal(headers);
    assertEquals(ErrorNumber.CONTENT_TYPE, refusal.error());
    assertEquals(
        "The body must have the Content-Type application/json, but has " + name + ".",
        refusal.getMessage());
  }

  private static RefusedException refusal(HttpHeaders headers) {
    return assertThrows(RefusedException.class, () -> NewPlantReader.requireReadable(headers));
  }
}
