package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.spi.LoggingEvent;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.slf4j.event.KeyValuePair;

/** A line of the log in text, as {@link LogsTest} sees it, is what a pattern would make of it. */
class TextLinesTest {

  private static final String PATTERN =
      "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX,UTC} %-5level [%thread] %logger{36}"
          + "%replace( [%mdc]){' \\[\\]$', ''} - %replace(%msg){'\\R+', ' '}"
          + "%replace( %kvp{NONE}){'^ $', ''}%n%replace(%ex){'(?m)^', '\t'}";

  private final LoggerContext context = new LoggerContext();
  private final PatternLayout pattern = new PatternLayout();

  @Test
  void line_has_each_part_that_its_event_has() {
    pattern.setContext(context);
    pattern.setPattern(PATTERN);
    pattern.start();
    IllegalStateException failure = new IllegalStateException("a\nb", new Exception("cause"));
    failure.addSuppressed(new Exception("suppressed"));

    LoggingEvent full = event(Level.INFO, "a\r\n\u2028b \u0085{}\n", failure);
    full.setMDCPropertyMap(Map.of("request_id", "a", "trace_id", "b"));
    full.addKeyValuePair(new KeyValuePair("status", 200));
    full.addKeyValuePair(new KeyValuePair("error", "-"));
    assertLikePattern(full);
    for (String message : new String[] {"", null}) {
      LoggingEvent empty = event(Level.ERROR, message, null);
      empty.setMDCPropertyMap(Map.of());
      assertLikePattern(empty);
    }
  }

  private LoggingEvent event(Level level, @Nullable String message, @Nullable Throwable failure) {
    String logger = "io.micronaut.security.token.jwt.nimbus.ReactiveJwksSignature";
    Object[] arguments = {"argument"};
    return new LoggingEvent("class", context.getLogger(logger), level, message, failure, arguments);
  }

  private void assertLikePattern(LoggingEvent event) {
    assertEquals(pattern.doLayout(event), new TextLines().doLayout(event));
  }
}
