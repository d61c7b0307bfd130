package org.plantstore.app;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.LayoutBase;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.slf4j.event.KeyValuePair;

/**
 * Writes each event as one flat JSON object, with numbers as numbers, so that a shipper of logs
 * finds every value by its name. Logback's own encoder nests the values, as strings. Safe for use
 * by many threads.
 */
public final class JsonLines extends LayoutBase<ILoggingEvent> {

  private static final JsonFactory JSON = new JsonFactory();

  @Override
  public String doLayout(ILoggingEvent event) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("timestamp", Instant.ofEpochMilli(event.getTimeStamp()));
    members.put("level", event.getLevel());
    members.put("logger", event.getLoggerName());
    members.put("thread", event.getThreadName());
    members.put("message", event.getFormattedMessage());
    members.putAll(event.getMDCPropertyMap());
    for (KeyValuePair pair :
        Objects.requireNonNullElse(event.getKeyValuePairs(), List.<KeyValuePair>of())) {
      if (!"-".equals(pair.value)) { // the text of a value that is absent
        members.put(pair.key, pair.value);
      }
    }
    if (event.getThrowableProxy() != null) {
      members.put("stack_trace", ThrowableProxyUtil.asString(event.getThrowableProxy()));
    }
    StringWriter line = new StringWriter(512);
    try (JsonGenerator json = JSON.createGenerator(line)) {
      json.writeStartObject();
      for (Map.Entry<String, Object> member : members.entrySet()) {
        Object value = member.getValue();
        json.writeObjectField(
            member.getKey(), value instanceof Number ? value : String.valueOf(value));
      }
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory must not fail", e);
    }
    return line.append('\n').toString();
  }
}
