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

/** Strictly parses one NewPlant, but ignores unknown members. Each instance parses one body. */
final class NewPlantJson {

  private static final int MAX_DEPTH = 1_000;

  /** Does not limit the lengths of values, because the size of the body already limits them. */
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          // Callers could fill the memory with member names if the parser cached them.
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH)
                  .maxNumberLength(Integer.MAX_VALUE) // the parser does not convert long numbers
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .build())
          .build();

  private static final String EXAMPLE = "such as {\"id\":1,\"name\":\"fern\"}.";
  private static final int MAX_NAMED_MEMBERS = 8;

  private final CharBuffer body;
  private final JsonParser parser;

  /** What is wrong with each invalid field, sorted by error number: id, name, tag. */
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

  /** Returns the plant in a body; throws RefusedException if the body contains no valid plant. */
  static NewPlant read(byte[] bytes) {
    CharBuffer body = BodyText.decode(bytes);
    try (JsonParser parser = JSON.createParser(body.array(), 0, body.limit())) {
      return new NewPlantJson(body, parser).read();
    } catch (IOException e) {
      throw new UncheckedIOException("reading from memory failed", e);
    }
  }

  static RefusedException noBody() {
    return new RefusedException(
        ErrorNumber.MALFORMED_JSON, "The body is empty; send a JSON object " + EXAMPLE);
  }

  private NewPlant read() throws IOException {
    try {
      readBody();
    } catch (StreamConstraintsException e) {
      String fault = "The body is nested more than " + MAX_DEPTH + " levels deep";
      throw BodyText.malformed(body, fault, parser.currentLocation(), "use fewer levels.");
    } catch (JsonProcessingException e) {
      throw malformed(e);
    }
    return plant();
  }

  /** Distinguishes errors by Jackson's message, because they have the same exception type. */
  private RefusedException malformed(JsonProcessingException e) {
    String fault = "The body is not valid JSON (RFC 8259)";
    String advice = "correct it there, or write the body with a JSON library.";
    if (e.getOriginalMessage().startsWith("Duplicate field")) {
      String member = parser.getParsingContext().getCurrentName();
      fault = "The body repeats the member " + Legible.quoted(member);
      advice = "send each member only once.";
    } else if (e.getOriginalMessage().startsWith("Unexpected end-of-input")) {
      fault = "The body is cut off";
      advice = "send a complete JSON object.";
    }
    return BodyText.malformed(body, fault, e.getLocation(), advice);
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
    parser.skipChildren(); // skips the elements if the body is an array
    if (parser.nextToken() != null) {
      String fault = "The body contains more than one JSON value: the next one begins";
      throw BodyText.malformed(body, fault, parser.currentTokenLocation(), "send only one plant.");
    }
    if (first != JsonToken.START_OBJECT) {
      String advice = first == JsonToken.START_ARRAY ? "one plant per request, " : "an object ";
      String message = "The body must be a JSON object, but is " + found + "; send " + advice;
      throw new RefusedException(ErrorNumber.NOT_AN_OBJECT, message + EXAMPLE);
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
          String demand = "tag must be a string in quotation marks, null, or absent";
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
    return ""; // valid, so that the NewPlant constructor reports only other fields
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
          case VALUE_NUMBER_FLOAT -> " without a fraction or an exponent";
          case VALUE_NUMBER_INT ->
              " from -9223372036854775808 to 9223372036854775807"
                  + " (JavaScript rounds integers beyond 2^53)";
          default -> "";
        };
    problems.put(ErrorNumber.ID, "id must be an integer" + demand + ", but is " + found(value));
  }

  private String found(JsonToken value) throws IOException {
    return switch (value) {
      case START_OBJECT -> "an object";
      case START_ARRAY -> "an array";
      case VALUE_STRING -> Legible.quoted(parser.getText());
      default -> Legible.of(parser.getText()); // a number, true, false, or null
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

  /** Returns the text with a period at its end. */
  static String sentence(String text) {
    return text.endsWith(".") ? text : text + ".";
  }

  /** Lists unknown members, because one may be a misspelled field or may contain the plant. */
  private String hint() {
    String others = otherMembers.size() > MAX_NAMED_MEMBERS ? ", and others" : "";
    String advice = "; it must contain id and name, spelled exactly like this, at the top level.";
    return otherMembers.isEmpty()
        ? ""
        : otherMembers.stream()
            .limit(MAX_NAMED_MEMBERS)
            .map(Legible::quoted)
            .collect(joining(", ", " The body contains ", others + advice));
  }
}
