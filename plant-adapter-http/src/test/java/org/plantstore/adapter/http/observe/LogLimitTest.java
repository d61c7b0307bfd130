package org.plantstore.adapter.http.observe;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class LogLimitTest {

  @Test
  void line_is_due_at_once_and_not_again_before_a_second_is_over() {
    long start = System.nanoTime();
    LogLimit line = new LogLimit();
    assertTrue(line.tryAcquire());
    while (!line.tryAcquire()) {
      LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
    }
    assertTrue(System.nanoTime() - start >= Duration.ofSeconds(1).toNanos());
    assertFalse(line.tryAcquire());
  }
}
