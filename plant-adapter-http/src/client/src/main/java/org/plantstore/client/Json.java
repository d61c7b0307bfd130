package org.plantstore.client;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonParser.NumberType;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import org.plantstore.domain.NewPlant;

/** The bodies of requests and responses. */
final class Json {

  private static final JsonFactory JSON =
      JsonFactory.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(JsonWriteFeature.COMBINE_UNICODE_SURROGATES_IN_UTF8) // a third of the bytes
          .streamReadConstraints(
              StreamReadConstraints.builder().maxStringLength(Integer.MAX_VALUE).build())
          .build();

  private Json() {}

  static byte[] write(NewPlant plant) {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    try (JsonGenerator json = JSON.createGenerator(body)) {
      json.writeStartObject();
      json.writeNumberField("id", plant.id());
      json.writeStringField("name", plant.name());
      if (plant.tag() != null) {
        json.writeStringField("tag", plant.tag());
      }
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory must not fail", e);
    }
    return body.toByteArray();
  }

  /**
   * Returns the members of an object that are strings, or integers of 32 bits; without any if the
   * text is no JSON object.
   */
  static Map<String, Object> read(byte[] text) {
    Map<String, Object> members = new HashMap<>();
    try (JsonParser json = JSON.createParser(text)) {
      if (json.nextToken() != JsonToken.START_OBJECT) {
        return Map.of();
      }
      for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
        JsonToken value = json.nextToken();
        if (value == JsonToken.VALUE_STRING) {
          members.put(name, json.getText());
        } else if (value == JsonToken.VALUE_NUMBER_INT && json.getNumberType() == NumberType.INT) {
          members.put(name, json.getIntValue());
        }
        json.skipChildren();
      }
      return json.nextToken() == null ? members : Map.of();
    } catch (IOException e) {
      return Map.of();
    }
  }
}
