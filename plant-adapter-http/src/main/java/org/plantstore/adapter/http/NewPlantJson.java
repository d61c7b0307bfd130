package org.plantstore.adapter.http;

import static java.util.stream.Collectors.joining;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
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

/** Parses a plant from a request body. Parsing is strict, but unknown members are ignored. */
final class NewPlantJson {

  /** The lengths of values are not limited here, because the body size is limited. */
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          // If member names were cached, callers could fill the memory with new names.
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNumberLength(Integer.MAX_VALUE) // huge numbers are never converted
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .build())
          .build();

  private static final String EXAMPLE = "such as {\"id\":1,\"name\":\"fern\"}.";
  private static final int QUOTED_CHARACTERS = 20; // on each side of an error

  private final CharBuffer body;
  private final JsonParser parser;

  /** A description of the problem with each invalid field, in the order id, name, tag. */
  private final Map<ErrorNumber, String> problems = new TreeMap<>();

  private final List<String> unknownMembers = new ArrayList<>(0);
  private boolean hasId;
  private long id;
  private @Nullable String name;
  private @Nullable String tag;

  private NewPlantJson(CharBuffer body, JsonParser parser) {
    this.body = body;
    this.parser = parser;
  }

  /** Returns the plant in a body, or throws RefusedException if there is no valid plant. */
  static NewPlant read(CharBuffer body) {
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
    } catch (JsonProcessingException e) {
      throw refusalOf(e);
    }
    return plant();
  }

  /** Most errors share one Jackson exception type, so they are distinguished by message. */
  private RefusedException refusalOf(JsonProcessingException e) {
    if (e instanceof StreamConstraintsException) {
      int limit = StreamReadConstraints.DEFAULT_MAX_DEPTH;
      String fault = "The body is nested more than " + limit + " levels deep";
      return malformed(fault, parser.currentLocation(), "use fewer levels.");
    }
    if (e.getOriginalMessage().startsWith("Duplicate field")) {
      String member = Legible.quoted(parser.getParsingContext().getCurrentName());
      String fault = "The body repeats the member " + member;
      return malformed(fault, e.getLocation(), "send each member only once.");
    }
    if (e.getOriginalMessage().startsWith("Unexpected end-of-input")) {
      return malformed("The body is cut off", e.getLocation(), "send a complete JSON object.");
    }
    String advice = "correct the JSON there, or generate the body with a JSON library.";
    return malformed("The body is not valid JSON (RFC 8259)", e.getLocation(), advice);
  }

  /** Returns an exception that quotes the text around the place where the parser stopped. */
  private RefusedException malformed(String fault, JsonLocation stop, String advice) {
    int offset = (int) stop.getCharOffset();
    int begin = Math.max(0, offset - QUOTED_CHARACTERS);
    int end = Math.min(body.length(), offset + QUOTED_CHARACTERS);
    String place = " at line " + stop.getLineNr() + ", column " + stop.getColumnNr();
    String near = ", near '" + Legible.of(body.subSequence(begin, end)) + "'; ";
    return new RefusedException(ErrorNumber.MALFORMED_JSON, fault + place + near + advice);
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
      String fault = "The body contains a second JSON value";
      throw malformed(fault, parser.currentTokenLocation(), "send only one plant.");
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
      case "name" -> name = readText(member, "", value);
      case "tag" ->
          tag = value == JsonToken.VALUE_NULL ? null : readText(member, ", null, or absent", value);
      default -> unknownMembers.add(member);
    }
    parser.skipChildren();
  }

  private String readText(String member, String alternatives, JsonToken value) throws IOException {
    if (value == JsonToken.VALUE_STRING) {
      return parser.getText();
    }
    String demand = member + " must be a string in quotation marks" + alternatives;
    problems.put(ErrorNumber.ofField(member), demand + ", but is " + found(value));
    return ""; // a valid value, so that the NewPlant constructor reports only other fields
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
    if (name == null) {
      problems.put(ErrorNumber.NAME, "name is required");
    }
    try {
      NewPlant plant = new NewPlant(id, name == null ? "" : name, tag);
      if (problems.isEmpty()) {
        return plant;
      }
    } catch (InvalidPlantException e) {
      e.violations().forEach(it -> problems.put(ErrorNumber.ofField(it.field()), it.toString()));
    }
    ErrorNumber first = problems.keySet().iterator().next();
    String hint = hasId && name != null ? "" : hint();
    throw new RefusedException(first, sentence(String.join("; ", problems.values())) + hint);
  }

  static String sentence(String text) {
    return text.endsWith(".") ? text : text + ".";
  }

  /** Lists the unknown members. One of them may be a misspelled field, or may contain the plant. */
  private String hint() {
    String names = unknownMembers.stream().limit(8).map(Legible::quoted).collect(joining(", "));
    return names.isEmpty()
        ? ""
        : " The body contains "
            + names
            + "; send id and name, spelled exactly like this, at the top level.";
  }
}
