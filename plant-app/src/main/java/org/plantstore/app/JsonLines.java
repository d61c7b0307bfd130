package org.plantstore.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.slf4j.event.KeyValuePair;

/**
 * Writes each event as one flat JSON object, with numbers as numbers, so that a shipper of logs
 * finds every value by its name. Logback's own encoder nests the values, as strings. Safe for use
 * by many threads.
 */
public final class JsonLines extends EncoderBase<ILoggingEvent> {

  /** The text of a value that is absent, which has no member. */
  private static final String ABSENT = "-";

  private static final JsonFactory JSON = new JsonFactory();

  @Override
  public byte[] encode(ILoggingEvent event) {
    StringWriter line = new StringWriter(512);
    try (JsonGenerator json = JSON.createGenerator(line)) {
      json.writeStartObject();
      json.writeStringField("timestamp", event.getInstant().toString());
      json.writeStringField("level", event.getLevel().toString());
      json.writeStringField("logger", event.getLoggerName());
      json.writeStringField("thread", event.getThreadName());
      json.writeStringField("message", event.getFormattedMessage());
      for (Map.Entry<String, String> id : event.getMDCPropertyMap().entrySet()) {
        json.writeStringField(id.getKey(), id.getValue());
      }
      for (KeyValuePair pair :
          Objects.requireNonNullElse(event.getKeyValuePairs(), List.<KeyValuePair>of())) {
        if (pair.value instanceof BigDecimal number) {
          json.writeNumberField(pair.key, number);
        } else if (pair.value instanceof Number number) {
          json.writeNumberField(pair.key, number.longValue());
        } else if (!ABSENT.equals(pair.value)) {
          json.writeStringField(pair.key, String.valueOf(pair.value));
        }
      }
      if (event.getThrowableProxy() != null) {
        json.writeStringField(
            "stack_trace", ThrowableProxyUtil.asString(event.getThrowableProxy()));
      }
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory must not fail", e);
    }
    return line.append('\n').toString().getBytes(UTF_8);
  }

  @Override
  public byte[] headerBytes() {
    return new byte[0];
  }

  @Override
  public byte[] footerBytes() {
    return new byte[0];
  }
}
