package org.plantstore.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.slf4j.event.KeyValuePair;

/** A line of the log in JSON, as {@link LogsTest} sees it, with values that need care. */
class JsonLinesTest {

  private static final String ODD = "\"\\\n\t\u0000\u2028\ud800 \ud83c\udf31";

  @Test
  void line_is_one_flat_object_of_typed_values_whatever_they_are() throws IOException {
    LoggingEvent event =
        new LoggingEvent(
            "class",
            new LoggerContext().getLogger(ODD),
            Level.WARN,
            "a {} " + ODD,
            new IllegalStateException(ODD),
            new Object[] {ODD});
    event.setMDCPropertyMap(Map.of("request_id", ODD));
    event.addKeyValuePair(new KeyValuePair("status", 200));
    event.addKeyValuePair(new KeyValuePair("bytes", Long.MAX_VALUE));
    event.addKeyValuePair(new KeyValuePair("duration_ms", new BigDecimal("0.001")));
    event.addKeyValuePair(new KeyValuePair("path", ODD));
    event.addKeyValuePair(new KeyValuePair("error", "-"));

    String line = new String(new JsonLines().doLayout(event).getBytes(UTF_8), UTF_8);
    assertEquals(line.length() - 1, line.indexOf('\n'), line);
    JsonNode members = new ObjectMapper().readTree(line);
    String kept = ODD.replace("\ud800", "?");
    assertEquals(kept, members.get("request_id").textValue());
    assertEquals("a " + kept + " " + kept, members.get("message").textValue());
    assertEquals(200, members.get("status").numberValue());
    assertEquals(Long.MAX_VALUE, members.get("bytes").numberValue());
    assertEquals(0.001, members.get("duration_ms").numberValue());
    assertEquals(null, members.get("error"));
    assertTrue(members.get("stack_trace").textValue().contains("JsonLinesTest"), line);
    members.forEach(member -> assertTrue(member.isValueNode(), line));
  }
}
