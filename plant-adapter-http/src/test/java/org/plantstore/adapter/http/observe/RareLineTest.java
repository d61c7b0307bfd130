package org.plantstore.adapter.http.observe;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RareLineTest {

  @Test
  void line_is_due_at_once_and_not_again_before_the_pause_is_over() {
    assertTrue(new RareLine(Duration.ofMinutes(1)).isDue());

    Duration pause = Duration.ofMillis(100);
    long start = System.nanoTime();
    RareLine line = new RareLine(pause);
    assertTrue(line.isDue());
    while (!line.isDue()) {
      Thread.onSpinWait();
    }
    assertTrue(System.nanoTime() - start >= pause.toNanos());
    assertFalse(line.isDue());
  }
}
