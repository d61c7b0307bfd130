package org.plantstore.app;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.LayoutBase;
import ch.qos.logback.core.util.CachingDateFormatter;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.slf4j.event.KeyValuePair;

/**
 * Formats each log event as one flat JSON object with typed values, so that a log shipper can find
 * each value by name. By contrast, Logback's own JSON encoder nests the values and writes numbers
 * as strings. This class is thread-safe.
 */
public final class JsonLines extends LayoutBase<ILoggingEvent> {

  private static final JsonFactory JSON = new JsonFactory();

  private final CachingDateFormatter timestamps =
      new CachingDateFormatter("yyyy-MM-dd'T'HH:mm:ss.SSSX", ZoneOffset.UTC);

  @Override
  public String doLayout(ILoggingEvent event) {
    StringWriter line = new StringWriter(512);
    try (JsonGenerator json = JSON.createGenerator(line)) {
      json.writeStartObject();
      json.writeStringField("timestamp", timestamps.format(event.getTimeStamp()));
      json.writeStringField("level", event.getLevel().toString());
      json.writeStringField("logger", event.getLoggerName());
      json.writeStringField("thread", event.getThreadName());
      json.writeStringField("message", event.getFormattedMessage());
      for (Map.Entry<String, String> id : event.getMDCPropertyMap().entrySet()) {
        json.writeStringField(id.getKey(), id.getValue());
      }
      List<KeyValuePair> pairs = event.getKeyValuePairs();
      for (KeyValuePair pair : pairs == null ? List.<KeyValuePair>of() : pairs) {
        if (!"-".equals(pair.value)) { // a hyphen stands for an absent value
          json.writeObjectField(
              pair.key, pair.value instanceof Number ? pair.value : String.valueOf(pair.value));
        }
      }
      if (event.getThrowableProxy() != null) {
        json.writeStringField(
            "stack_trace", ThrowableProxyUtil.asString(event.getThrowableProxy()));
      }
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException("a log event could not be formatted as JSON", e);
    }
    return line.append('\n').toString();
  }
}
