package org.plantstore.adapter.http.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RareLineTest {

  private static final Duration PAUSE = Duration.ofMillis(100);

  @Test
  void first_line_is_written_at_once_and_the_next_one_after_the_pause_with_the_number_between() {
    List<Long> written = new ArrayList<>();
    RareLine line = new RareLine(PAUSE);
    long start = System.nanoTime();
    long attempts = 0;
    while (written.size() < 2) {
      line.write(written::add);
      attempts++;
      assertTrue(!written.isEmpty(), "the first line");
    }

    assertEquals(List.of(0L, attempts - 2), written);
    assertTrue(System.nanoTime() - start >= PAUSE.toNanos());
  }
}
