package org.plantstore.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.slf4j.ILoggerFactory;
import org.slf4j.LoggerFactory;
import org.slf4j.helpers.NOPLoggerFactory;

class LogWriterTest {

  private static final LoggerContext LOGS = (LoggerContext) LoggerFactory.getILoggerFactory();

  @Test
  void failed_write_costs_its_lines_but_not_the_log() throws InterruptedException {
    CountDownLatch failed = new CountDownLatch(1);
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    PrintStream output =
        new PrintStream(written, false, UTF_8) {
          @Override
          public void writeBytes(byte[] lines) {
            if (failed.getCount() > 0) {
              failed.countDown();
              throw new OutOfMemoryError("for a test");
            }
            super.writeBytes(lines);
          }
        };
    LogWriter log = new LogWriter(output);
    log.setContext(LOGS);
    log.start();

    log.append(line("one"));
    failed.await(30, TimeUnit.SECONDS);
    log.append(line("two"));
    log.stop();

    String text = written.toString(UTF_8);
    assertEquals(1, text.lines().count(), text);
    assertTrue(text.contains("two"), text);
  }

  @Test
  void log_of_a_neighbour_is_refused_with_its_jar() {
    ILoggerFactory nop = new NOPLoggerFactory();
    String refusal = Main.reasonFor(assertThrows(Exception.class, () -> Main.requireLogback(nop)));
    String demand = "the log must be Logback by slf4j-api 2, but is that of jar:file:/";
    assertTrue(refusal.startsWith(demand), refusal);
    assertTrue(refusal.endsWith("NOPLoggerFactory.class; remove this jar"), refusal);
  }

  private static LoggingEvent line(String message) {
    return new LoggingEvent("any", LOGS.getLogger("any"), Level.INFO, message, null, null);
  }
}
