package org.plantstore.adapter.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.CharBuffer;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.NewPlant;

/**
 * Reads the JSON of one NewPlant. Unknown members are ignored. A refusal names every broken field,
 * in the order id, name, tag, and has the number of the first. Used by one thread.
 */
final class NewPlantJson {

  private static final int MAX_DEPTH = 1_000;

  /** Has no limits of lengths: the body's size bounds them, and long numbers are not converted. */
  static final JsonFactory JSON =
      JsonFactory.builder()
          .enable(JsonWriteFeature.COMBINE_UNICODE_SURROGATES_IN_UTF8)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          // A cache of names would let callers fill the memory.
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH)
                  .maxNumberLength(Integer.MAX_VALUE)
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .build())
          .build();

  private final JsonParser parser;
  private final InvalidFields problems = new InvalidFields();
  private long id;
  private String name = "";
  private @Nullable String tag;

  private NewPlantJson(JsonParser parser) {
    this.parser = parser;
    problems.put(ErrorNumber.ID, "id is required");
    problems.put(ErrorNumber.NAME, "name is required");
  }

  /** Returns the plant of a body; throws RefusedException if there is none. */
  static NewPlant read(byte[] body) {
    CharBuffer text = BodyText.decode(body);
    try (JsonParser parser = JSON.createParser(text.array(), 0, text.limit())) {
      return new NewPlantJson(parser).read();
    } catch (JsonProcessingException e) {
      throw malformed("valid JSON (RFC 8259) without repeated members", e.getLocation());
    } catch (IOException e) {
      throw new UncheckedIOException("reading from memory must not fail", e);
    }
  }

  private NewPlant read() throws IOException {
    try {
      readBody();
    } catch (StreamConstraintsException e) {
      throw malformed("nested at most " + MAX_DEPTH + " levels deep", parser.currentLocation());
    }
    return plant();
  }

  private static RefusedException malformed(String demand, JsonLocation stop) {
    String place = "line " + stop.getLineNr() + ", column " + stop.getColumnNr();
    return new RefusedException(
        ErrorNumber.MALFORMED_JSON,
        "The body must be " + demand + "; reading stopped at " + place + ".");
  }

  private void readBody() throws IOException {
    JsonToken first = parser.nextToken();
    if (first == null) {
      throw new RefusedException(ErrorNumber.MALFORMED_JSON, "The body must not be empty.");
    }
    while (first == JsonToken.START_OBJECT && parser.nextToken() != JsonToken.END_OBJECT) {
      readMember(parser.currentName(), parser.nextToken());
    }
    parser.skipChildren(); // of an array
    if (parser.nextToken() != null) {
      throw malformed("one JSON object without anything after it", parser.currentTokenLocation());
    }
    if (first != JsonToken.START_OBJECT) {
      throw new RefusedException(ErrorNumber.NOT_AN_OBJECT);
    }
  }

  private void readMember(String member, JsonToken value) throws IOException {
    switch (member) {
      case "id" -> readId(value);
      case "name" -> name = readText(ErrorNumber.NAME, "name must be a string", value);
      case "tag" -> {
        if (value != JsonToken.VALUE_NULL) {
          tag = readText(ErrorNumber.TAG, "tag must be a string, null or absent", value);
        }
      }
      default -> {}
    }
    parser.skipChildren();
  }

  private String readText(ErrorNumber field, String demand, JsonToken value) throws IOException {
    if (value == JsonToken.VALUE_STRING) {
      problems.remove(field);
      return parser.getText();
    }
    problems.put(field, demand + ", but is " + kindOf(value));
    return ""; // which the domain accepts
  }

  private void readId(JsonToken value) throws IOException {
    if (value != JsonToken.VALUE_NUMBER_INT) {
      problems.put(ErrorNumber.ID, "id must be an integer literal, but is " + kindOf(value));
    } else if (parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
      problems.put(ErrorNumber.ID, "id must be from " + Long.MIN_VALUE + " to " + Long.MAX_VALUE);
    } else {
      id = parser.getLongValue();
      problems.remove(ErrorNumber.ID);
    }
  }

  private static String kindOf(JsonToken value) {
    return switch (value) {
      case START_OBJECT -> "an object";
      case START_ARRAY -> "an array";
      case VALUE_STRING -> "a string";
      case VALUE_NUMBER_INT -> "a number";
      case VALUE_NUMBER_FLOAT -> "a number with a fraction or an exponent";
      default -> value.asString(); // true, false, null
    };
  }

  private NewPlant plant() {
    try {
      NewPlant plant = new NewPlant(id, name, tag);
      if (problems.isEmpty()) {
        return plant;
      }
    } catch (InvalidPlantException e) {
      problems.add(e);
    }
    throw problems.refusal();
  }
}
