package org.plantstore.client;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;

/** The bodies of requests and responses. */
final class Json {

  private static final JsonFactory JSON = new JsonFactory();

  private Json() {}

  static String write(NewPlant plant) {
    String tag = plant.tag() == null ? "" : ",\"tag\":" + quoted(plant.tag());
    return "{\"id\":" + plant.id() + ",\"name\":" + quoted(plant.name()) + tag + "}";
  }

  private static String quoted(String text) {
    return '"' + String.valueOf(JsonStringEncoder.getInstance().quoteAsString(text)) + '"';
  }

  /**
   * Returns the members of an object as text; none if there is no body, or one that is not JSON.
   */
  static Map<String, @Nullable String> read(byte @Nullable [] body) {
    Map<String, @Nullable String> members = new HashMap<>();
    try (JsonParser json = JSON.createParser(body == null ? new byte[0] : body)) {
      json.nextToken();
      for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
        json.nextToken();
        members.put(name, json.getValueAsString()); // null for null, an object or an array
        json.skipChildren();
      }
      return members;
    } catch (IOException e) {
      return Map.of();
    }
  }
}
