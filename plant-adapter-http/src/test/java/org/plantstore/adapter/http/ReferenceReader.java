package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.NewPlant;

/** Reads plants by the letter of RFC 8259 and of the contract, slowly, and without any library. */
final class ReferenceReader {

  private static final Pattern NUMBER =
      Pattern.compile("-?(?:0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");
  private static final Pattern STRING =
      Pattern.compile("\"((?:[^\"\\\\\u0000-\u001F]|\\\\[\"\\\\/bfnrt]|\\\\u[0-9a-fA-F]{4})*+)\"");
  private static final Pattern ESCAPE = Pattern.compile("\\\\(u(.{4})|.)");

  /** What a member has that is null, or that no plant has. */
  private static final Object OTHER = new Object();

  private static final class MalformedException extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private final String text;
  private int position;

  private ReferenceReader(String text) {
    this.text = text;
  }

  /** Answers the plant that a body means, or nothing if it means none. */
  static Optional<NewPlant> read(byte[] body) {
    try {
      String text = UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString();
      return new ReferenceReader(text).document() instanceof Map<?, ?> members
          ? plant(members)
          : Optional.empty();
    } catch (CharacterCodingException | MalformedException | InvalidPlantException e) {
      return Optional.empty();
    }
  }

  private static Optional<NewPlant> plant(Map<?, ?> members) {
    Object tag = members.get("tag");
    boolean hasTag = tag != null && !tag.equals("null");
    return members.get("id") instanceof BigInteger id
            && id.bitLength() < Long.SIZE
            && members.get("name") instanceof StringBuilder name
            && (!hasTag || tag instanceof StringBuilder)
        ? Optional.of(new NewPlant(id.longValue(), name.toString(), hasTag ? "" + tag : null))
        : Optional.empty();
  }

  private Object document() {
    Object value = value();
    skipWhite();
    require(position == text.length());
    return value;
  }

  /** Answers a map, a string builder, an integer, {@code "null"} or what is none of these. */
  private Object value() {
    skipWhite();
    if (accept("{")) {
      return members();
    }
    if (accept("[")) {
      return elements();
    }
    if (next("\"")) {
      return string();
    }
    if (accept("null")) {
      return "null";
    }
    return accept("true") || accept("false") ? OTHER : number();
  }

  private Map<String, Object> members() {
    Map<String, Object> members = new LinkedHashMap<>();
    skipWhite();
    if (accept("}")) {
      return members;
    }
    do {
      skipWhite();
      String name = string().toString();
      skipWhite();
      require(accept(":"));
      require(members.put(name, value()) == null);
      skipWhite();
    } while (accept(","));
    require(accept("}"));
    return members;
  }

  private List<Object> elements() {
    List<Object> elements = new ArrayList<>();
    skipWhite();
    if (accept("]")) {
      return elements;
    }
    do {
      elements.add(value());
      skipWhite();
    } while (accept(","));
    require(accept("]"));
    return elements;
  }

  private StringBuilder string() {
    Matcher matcher = match(STRING);
    Matcher escape = ESCAPE.matcher(matcher.group(1));
    StringBuilder value = new StringBuilder();
    int from = 0;
    while (escape.find()) {
      value.append(matcher.group(1), from, escape.start());
      String hex = escape.group(2);
      value.append(hex == null ? unescaped(escape.group(1)) : (char) Integer.parseInt(hex, 16));
      from = escape.end();
    }
    return value.append(matcher.group(1).substring(from));
  }

  private static char unescaped(String letter) {
    int index = "bfnrt".indexOf(letter);
    return index < 0 ? letter.charAt(0) : "\b\f\n\r\t".charAt(index);
  }

  private Object number() {
    Matcher matcher = match(NUMBER);
    return matcher.group(1) == null && matcher.group(2) == null
        ? new BigInteger(matcher.group())
        : OTHER;
  }

  private Matcher match(Pattern pattern) {
    Matcher matcher = pattern.matcher(text).region(position, text.length());
    require(matcher.lookingAt());
    position = matcher.end();
    return matcher;
  }

  private void skipWhite() {
    while (position < text.length() && " \t\n\r".indexOf(text.charAt(position)) >= 0) {
      position++;
    }
  }

  private boolean next(String token) {
    return text.startsWith(token, position);
  }

  private boolean accept(String token) {
    boolean accepted = next(token);
    position += accepted ? token.length() : 0;
    return accepted;
  }

  private static void require(boolean condition) {
    if (!condition) {
      throw new MalformedException();
    }
  }
}
