package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.plantstore.domain.NewPlant;

/** From JSON over HTTP to the database and back: the answer is exactly the stored plant. */
class GeneratedPlantsTest {

  private static final int PLANTS = 100;

  /** The first and last code points of ranges that are encoded or treated alike. */
  private static final int[] EDGES = {
    0x01, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x1F, 0x20, '"', '\'', '/', '\\', '{', ',', '$', '%',
    0x7F, 0x80, 0x85, 0xA0, 0xAD, 0xFF, 0x130, 0x131, 0x300, 0x301, 0x7FF, 0x800, 0x1100, 0x1161,
    0x200D, 0x202E, 0x2028, 0x2029, 0xAC00, 0xD7FF, 0xE000, 0xFDD0, 0xFEFF, 0xFFFD, 0xFFFE, 0xFFFF,
    0x10000, 0x1F1E6, 0x1F33F, 0x1FFFE, 0xE0001, 0x10FFFF
  };

  private final ObjectMapper json = new ObjectMapper();
  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  @Test
  void plants_are_answered_and_stored_exactly() throws Exception {
    Map<Long, NewPlant> sent = new HashMap<>();
    for (int number = 1; number <= PLANTS; number++) {
      long id = number % 2 == 0 ? Long.MIN_VALUE + number : random.nextLong() >> number % 32;
      NewPlant plant = new NewPlant(id, text(), random.nextInt(3) == 0 ? null : text());
      if (sent.putIfAbsent(id, plant) == null) {
        ObjectNode body = json.createObjectNode().put("name", plant.name());
        body = plant.tag() == null ? body : body.put("tag", plant.tag());
        String request = body.deepCopy().put("id", id).toString();
        String answer = ServiceProcess.shared().create(request).body();
        assertEquals(body, json.readTree(answer), () -> "seed " + seed);
      }
    }
    Map<Long, NewPlant> stored = Database.shared().plants();
    stored.keySet().retainAll(sent.keySet());
    assertEquals(sent, stored, () -> "seed " + seed);
  }

  private String text() {
    StringBuilder text = new StringBuilder();
    for (int count = random.nextInt(random.nextInt(20) == 0 ? 20_000 : 30); count > 0; count--) {
      text.appendCodePoint(
          random.nextBoolean() ? EDGES[random.nextInt(EDGES.length)] : 'a' + random.nextInt(26));
    }
    return text.toString();
  }
}
