package org.plantstore.adapter.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.spi.ILoggingEvent;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the log says while the store is away: enough, and not too much. */
class RefusedCreatesTest {

  private final Log log = new Log(RefusedCreates.class.getName());

  @AfterEach
  void close() {
    log.close();
  }

  @Test
  void first_refusal_is_logged_at_once_and_a_thousand_further_ones_in_one_line_each_second() {
    RefusedCreates refusedCreates = new RefusedCreates();
    for (int create = 0; create < 1_000; create++) {
      refusedCreates.add("reason " + create);
    }

    assertEquals(
        List.of(
            "A plant was not created, its caller is asked to retry: reason 0",
            "999 more plants were not created within 1 s, their callers are asked to retry: reason 999"),
        lines());
  }

  /** An exception here would be answered as a fault of the service. */
  @ParameterizedTest
  @MethodSource("executorsWithoutThreads")
  void refusals_are_logged_one_by_one_while_no_summary_can_be_planned(Executor inAPeriod) {
    RefusedCreates refusedCreates = new RefusedCreates(inAPeriod);
    refusedCreates.add("reason 0");
    refusedCreates.add("reason 1");

    assertEquals(
        List.of(
            "A plant was not created, its caller is asked to retry: reason 0",
            "A plant was not created, its caller is asked to retry: reason 1"),
        lines());
  }

  static List<Executor> executorsWithoutThreads() {
    return List.of(
        summary -> {
          throw new RejectedExecutionException("shut down");
        },
        summary -> {
          throw new OutOfMemoryError("unable to create native thread");
        });
  }

  /** Answers the first two lines of this test; others may log in the same second. */
  private List<String> lines() {
    List<String> own = List.of();
    for (int logged = 2; own.size() < 2; logged++) {
      own =
          log.await(logged).stream()
              .map(ILoggingEvent::getFormattedMessage)
              .filter(line -> line.contains(": reason "))
              .toList();
    }
    return own;
  }
}
