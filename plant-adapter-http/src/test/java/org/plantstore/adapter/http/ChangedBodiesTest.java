package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.micronaut.http.HttpStatus;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.NewPlant;

/**
 * Bodies that differ from well-formed ones in any single byte, or lack any part, are read as a tree
 * of strict JSON says, or refused with its number; none is a fault of the service.
 */
class ChangedBodiesTest {

  private static final JsonMapper STRICT =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

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
}
