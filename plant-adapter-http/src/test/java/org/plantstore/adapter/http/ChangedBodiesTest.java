package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.http.HttpStatus;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.domain.NewPlant;

/**
 * Bodies that differ from valid ones in any single byte are read as a strict reader reads them, or
 * refused with 400; none is a fault of the service.
 */
class ChangedBodiesTest {

  private static final String PLAIN = "{\"id\":-12,\"name\":\"f\u00E9rn\",\"tag\":null}";
  private static final String ESCAPED =
      " {\"x\":[1.5e+3,{\"a\":true}],\"tag\":\"\\ud83c\\udf3f\\/\",\n\"\\u006eame\":\"\uD83C\uDF3F\","
          + "\"id\":9223372036854775807 } ";

  @ParameterizedTest
  @ValueSource(strings = {PLAIN, ESCAPED})
  void every_changed_byte(String body) {
    byte[] bytes = body.getBytes(UTF_8);
    assertReadAlike(bytes);
    assertTrue(ReferenceReader.read(bytes).isPresent());
    for (int index = 0; index < bytes.length; index++) {
      for (int value = 0; value < 256; value++) {
        byte[] changed = bytes.clone();
        changed[index] = (byte) value;
        assertReadAlike(changed);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {PLAIN, ESCAPED})
  void every_added_byte(String body) {
    byte[] bytes = body.getBytes(UTF_8);
    for (int index = 0; index <= bytes.length; index++) {
      for (int value = 0; value < 256; value++) {
        byte[] more = new byte[bytes.length + 1];
        System.arraycopy(bytes, 0, more, 0, index);
        more[index] = (byte) value;
        System.arraycopy(bytes, index, more, index + 1, bytes.length - index);
        assertReadAlike(more);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {PLAIN, ESCAPED})
  void every_missing_byte_beginning_and_end(String body) {
    byte[] bytes = body.getBytes(UTF_8);
    for (int from = 0; from <= bytes.length; from++) {
      assertReadAlike(Arrays.copyOfRange(bytes, 0, from));
      assertReadAlike(Arrays.copyOfRange(bytes, from, bytes.length));
      for (int to = from; to <= bytes.length; to++) {
        byte[] less = Arrays.copyOf(bytes, bytes.length - (to - from));
        System.arraycopy(bytes, to, less, from, bytes.length - to);
        assertReadAlike(less);
      }
    }
  }

  private static void assertReadAlike(byte[] body) {
    Optional<NewPlant> read = Optional.empty();
    try {
      read = Optional.of(NewPlantJson.read(body));
    } catch (RefusedException e) {
      assertEquals(HttpStatus.BAD_REQUEST, e.number().status());
    }
    assertEquals(ReferenceReader.read(body), read, () -> new String(body, ISO_8859_1));
  }
}
