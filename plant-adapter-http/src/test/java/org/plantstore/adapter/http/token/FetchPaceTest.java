package org.plantstore.adapter.http.token;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FetchPaceTest {

  private static final Duration PERIOD = Duration.ofNanos(100);

  /** A nanosecond clock may be negative, and overflows. */
  @ParameterizedTest
  @ValueSource(longs = {0, -50, Long.MAX_VALUE - 50})
  void two_fetches_begin_at_once_and_the_third_waits_for_the_rest_of_the_period(long start) {
    FetchPace pace = new FetchPace(PERIOD, start);
    assertEquals(0, pace.delayNanos(start));
    pace.begin(start);
    assertEquals(0, pace.delayNanos(start + 10));
    pace.begin(start + 10);

    assertEquals(60, pace.delayNanos(start + 40));
    pace.begin(start + 100);
    assertEquals(10, pace.delayNanos(start + 100));
    assertEquals(0, pace.delayNanos(start + 1_000));
  }

  @Test
  void fetches_that_are_far_apart_never_wait() {
    FetchPace pace = new FetchPace(PERIOD, 0);
    for (long now = 0; now < 1_000; now += 50) {
      assertEquals(0, pace.delayNanos(now));
      pace.begin(now);
    }
  }
}
