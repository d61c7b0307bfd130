package org.plantstore.adapter.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What the log says while the store is away: enough, and not too much. */
class RefusedCreatesTest {

  private static final String LINE =
      "A plant was not created, its caller is asked to retry (%d more since the last such line): %s";

  @Test
  void first_refusal_is_logged_at_once_and_further_ones_are_counted_in_one_line_each_second() {
    try (Log log = new Log(RefusedCreates.class.getName())) {
      RefusedCreates refusedCreates = new RefusedCreates();
      long start = System.nanoTime();
      int refused = 0;
      refusedCreates.add("reason 0");
      assertEquals(LINE.formatted(0, "reason 0"), log.await(1).get(0).getFormattedMessage());
      while (log.await(1).size() < 2) {
        refused++;
        refusedCreates.add("reason " + refused);
      }
      assertTrue(System.nanoTime() - start >= Duration.ofSeconds(1).toNanos());
      assertEquals(
          LINE.formatted(refused - 1, "reason " + refused),
          log.await(2).get(1).getFormattedMessage());
    }
  }
}
