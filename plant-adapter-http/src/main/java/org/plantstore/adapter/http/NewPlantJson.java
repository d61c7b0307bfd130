package org.plantstore.adapter.http;

import static java.util.stream.Collectors.joining;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.CharBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.Legible;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.NewPlant;

/** Parses one NewPlant strictly, and ignores unknown members. Used by one thread. */
final class NewPlantJson {

  private static final int MAX_DEPTH = 1_000;

  /** Does not limit lengths, because the size of the body does; long numbers stay text. */
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          // Callers could fill the memory with a cache of member names.
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH)
                  .maxNumberLength(Integer.MAX_VALUE)
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .build())
          .build();

  private static final String VALID = "The body must be valid JSON (RFC 8259)";
  private static final int MAX_NAMED_MEMBERS = 8;

  private final CharBuffer body;
  private final JsonParser parser;

  /** By the error of the field, in the order id, name, tag. */
  private final Map<ErrorNumber, String> problems = new TreeMap<>();

  private final List<String> otherMembers = new ArrayList<>(0);
  private boolean hasId;
  private boolean hasName;
  private long id;
  private String name = "";
  private @Nullable String tag;

  private NewPlantJson(CharBuffer body, JsonParser parser) {
    this.body = body;
    this.parser = parser;
  }

  /** Returns the plant of a body; throws RefusedException if there is none. */
  static NewPlant read(byte[] bytes) {
    CharBuffer body = BodyText.decode(bytes);
    try (JsonParser parser = JSON.createParser(body.array(), 0, body.limit())) {
      return new NewPlantJson(body, parser).read();
    } catch (IOException e) {
      throw new UncheckedIOException("reading from memory must not fail", e);
    }
  }

  static RefusedException noBody() {
    return new RefusedException(
        ErrorNumber.MALFORMED_JSON,
        "The body must be a JSON object, such as {\"id\":1,\"name\":\"fern\"}, but is empty.");
  }

  private NewPlant read() throws IOException {
    try {
      readBody();
    } catch (StreamConstraintsException e) {
      String demand = "The body must be nested at most " + MAX_DEPTH + " levels deep.";
      throw BodyText.malformed(body, demand, parser.currentLocation());
    } catch (JsonProcessingException e) {
      throw BodyText.malformed(body, demandOf(e.getOriginalMessage()), e.getLocation());
    }
    return plant();
  }

  /** Returns what Jackson requires. It reports these faults by message, not by exception type. */
  private String demandOf(String fault) {
    if (fault.startsWith("Duplicate field")) {
      String member = parser.getParsingContext().getCurrentName();
      return "The body must not repeat the member \"" + Legible.of(member) + "\".";
    }
    boolean isTruncated = fault.startsWith("Unexpected end-of-input");
    return isTruncated ? VALID + ", but ends before it is complete." : VALID + ".";
  }

  private void readBody() throws IOException {
    JsonToken first = parser.nextToken();
    if (first == null) {
      throw noBody();
    }
    while (first == JsonToken.START_OBJECT && parser.nextToken() != JsonToken.END_OBJECT) {
      readMember(parser.currentName(), parser.nextToken());
    }
    String found = found(first);
    parser.skipChildren(); // of an array
    if (parser.nextToken() != null) {
      String demand = "The body must be one JSON object without anything after it.";
      throw BodyText.malformed(body, demand, parser.currentTokenLocation());
    }
    if (first != JsonToken.START_OBJECT) {
      String advice = first == JsonToken.START_ARRAY ? "; send one plant per request." : ".";
      String message = "The body must be a JSON object, but is " + found + advice;
      throw new RefusedException(ErrorNumber.NOT_AN_OBJECT, message);
    }
  }

  private void readMember(String member, JsonToken value) throws IOException {
    switch (member) {
      case "id" -> readId(value);
      case "name" -> {
        hasName = true;
        name = readText(ErrorNumber.NAME, "name must be a string in quotation marks", value);
      }
      case "tag" -> {
        if (value != JsonToken.VALUE_NULL) {
          String demand = "tag must be a string in quotation marks, null or absent";
          tag = readText(ErrorNumber.TAG, demand, value);
        }
      }
      default -> otherMembers.add(member);
    }
    parser.skipChildren();
  }

  private String readText(ErrorNumber field, String demand, JsonToken value) throws IOException {
    if (value == JsonToken.VALUE_STRING) {
      return parser.getText();
    }
    problems.put(field, demand + ", but is " + found(value));
    return ""; // valid, so that the constructor of NewPlant reports only other fields
  }

  private void readId(JsonToken value) throws IOException {
    hasId = true;
    if (value == JsonToken.VALUE_NUMBER_INT
        && parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
      id = parser.getLongValue();
      return;
    }
    String demand =
        switch (value) {
          case VALUE_STRING -> " without quotation marks";
          case VALUE_NUMBER_FLOAT -> " without fraction or exponent";
          case VALUE_NUMBER_INT ->
              " from -9223372036854775808 to 9223372036854775807"
                  + " (JavaScript rounds numbers beyond 2^53)";
          default -> "";
        };
    problems.put(ErrorNumber.ID, "id must be an integer" + demand + ", but is " + found(value));
  }

  private String found(JsonToken value) throws IOException {
    return switch (value) {
      case START_OBJECT -> "an object";
      case START_ARRAY -> "an array";
      case VALUE_STRING -> '"' + Legible.of(parser.getText()) + '"';
      default -> Legible.of(parser.getText()); // a number, true, false or null
    };
  }

  private NewPlant plant() {
    if (!hasId) {
      problems.put(ErrorNumber.ID, "id is required");
    }
    if (!hasName) {
      problems.put(ErrorNumber.NAME, "name is required");
    }
    try {
      NewPlant plant = new NewPlant(id, name, tag);
      if (problems.isEmpty()) {
        return plant;
      }
    } catch (InvalidPlantException e) {
      e.violations().forEach(it -> problems.put(ErrorNumber.ofField(it.field()), it.toString()));
    }
    ErrorNumber first = problems.keySet().iterator().next();
    String hint = hasId && hasName ? "" : hint();
    throw new RefusedException(first, sentence(String.join("; ", problems.values())) + hint);
  }

  static String sentence(String text) {
    return text.endsWith(".") ? text : text + ".";
  }

  /** Names members that may be misspelled or contain the plant. */
  private String hint() {
    return otherMembers.isEmpty()
        ? ""
        : otherMembers.stream()
            .limit(MAX_NAMED_MEMBERS)
            .map(Legible::of)
            .collect(
                joining(
                    "\", \"",
                    " The body contains \"",
                    (otherMembers.size() > MAX_NAMED_MEMBERS ? "\" and others" : "\"")
                        + "; put id and name at its top level, spelled exactly so."));
  }
}
