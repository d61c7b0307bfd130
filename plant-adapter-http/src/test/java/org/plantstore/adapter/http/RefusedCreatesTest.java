package org.plantstore.adapter.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;

/** What the log says while the store is away: enough, and not too much. */
class RefusedCreatesTest {

  private final Logger logger = (Logger) LoggerFactory.getLogger(RefusedCreates.class);
  private final Lines lines = new Lines();

  @BeforeEach
  void listen() {
    lines.start();
    logger.setLevel(Level.WARN);
    logger.addAppender(lines);
  }

  @AfterEach
  void listenNoMore() {
    logger.detachAppender(lines);
    logger.setLevel(null);
  }

  @Test
  void first_refusal_is_logged_at_once_and_a_thousand_further_ones_in_one_line_each_second()
      throws InterruptedException {
    RefusedCreates refusedCreates = new RefusedCreates();
    for (int create = 0; create < 1_000; create++) {
      refusedCreates.add("reason " + create);
    }

    assertEquals("A plant was not created, its caller is asked to retry: reason 0", lines.await());
    assertEquals(
        "999 more plants were not created within 1 s, their callers are asked to retry: reason 999",
        lines.await());
  }

  /** An exception here would be answered as a fault of the service. */
  @ParameterizedTest
  @MethodSource("executorsWithoutThreads")
  void refusals_are_logged_one_by_one_while_no_summary_can_be_planned(Executor inAPeriod)
      throws InterruptedException {
    RefusedCreates refusedCreates = new RefusedCreates(inAPeriod);
    refusedCreates.add("reason 0");
    refusedCreates.add("reason 1");

    for (int create = 0; create < 2; create++) {
      assertEquals(
          "A plant was not created, its caller is asked to retry: reason " + create, lines.await());
    }
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

  /** The lines in the order in which they were logged. */
  private static final class Lines extends AppenderBase<ILoggingEvent> {

    private final BlockingQueue<String> queue = new LinkedBlockingQueue<>();

    /** Others may log in the same second. */
    @Override
    protected void append(ILoggingEvent event) {
      if (event.getFormattedMessage().contains(": reason ")) {
        queue.add(event.getFormattedMessage());
      }
    }

    String await() throws InterruptedException {
      return String.valueOf(queue.poll(30, TimeUnit.SECONDS));
    }
  }
}
