package org.plantstore.app;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.plantstore.app.PlantGenerator.Generated;

/** The many ways to write a plant in JSON, and the many ways to fail at it. */
final class JsonSpelling {

  private static final String WHITE = " \t\n\r";

  /** What cannot be part of UTF-8 text anywhere. */
  private static final List<int[]> NOT_UTF_8 =
      List.of(
          new int[] {0x80},
          new int[] {0xC0, 0x80},
          new int[] {0xC1, 0xBF},
          new int[] {0xE0, 0x80, 0x80},
          new int[] {0xED, 0xA0, 0x80},
          new int[] {0xED, 0xA0, 0xBC, 0xED, 0xBC, 0xBF},
          new int[] {0xF0, 0x80, 0x80, 0x80},
          new int[] {0xF4, 0x90, 0x80, 0x80},
          new int[] {0xF8, 0x88, 0x80, 0x80, 0x80},
          new int[] {0xFE},
          new int[] {0xFF},
          new int[] {0xE2, 0x82});

  private final Random random;
  private final PlantGenerator generator;

  JsonSpelling(Random random, PlantGenerator generator) {
    this.random = random;
    this.generator = generator;
  }

  /** Writes the plant in one of the ways that mean it. */
  byte[] valid(Generated plant) {
    return object(members(plant)).getBytes(UTF_8);
  }

  /** Writes something close to the plant that no reader may take for it, nor for another one. */
  byte[] invalid(Generated plant) {
    List<String> members = members(plant);
    String valid = object(members).strip();
    return switch (random.nextInt(14)) {
      case 0 -> Arrays.copyOf(valid.getBytes(UTF_8), random.nextInt(valid.getBytes(UTF_8).length));
      case 1 -> (valid + pick("x", "{}", ",", "]", "\u0000", "//", "1")).getBytes(UTF_8);
      case 2 -> ('\uFEFF' + valid).getBytes(UTF_8);
      case 3 -> withBytesInText(plant);
      case 4 -> valid.getBytes(pick(UTF_16LE, UTF_16BE, Charset.forName("UTF-32BE")));
      case 5 -> object(plus(members, members.get(random.nextInt(members.size())))).getBytes(UTF_8);
      case 6 -> object(without(members, pick("id", "name"))).getBytes(UTF_8);
      case 7 -> object(plus(without(members, "id"), "\"id\":" + wrongId())).getBytes(UTF_8);
      case 8 -> object(plus(without(members, "name"), "\"name\":" + wrongText())).getBytes(UTF_8);
      case 9 -> object(plus(without(members, "tag"), "\"tag\":" + wrongTag())).getBytes(UTF_8);
      case 10 -> ("[" + valid + "]").getBytes(UTF_8);
      case 11 -> valid.replaceFirst("\\{", pick("{,", "{/**/", "{1:1,", "{x:1,")).getBytes(UTF_8);
      case 12 -> (valid.substring(0, valid.length() - 1) + ",}").getBytes(UTF_8);
      default ->
          object(
                  plus(
                      members,
                      "\"x\":"
                          + pick(
                              "NaN",
                              "01",
                              "+1",
                              ".5",
                              "1.",
                              "tru",
                              "'a'",
                              "\"\t\"",
                              "\"\\x\"",
                              "\"\\u12\"",
                              "[1,]",
                              "[1 2]",
                              "{\"a\"}",
                              "{\"a\":1,\"a\":1}",
                              "undefined",
                              "[".repeat(1_000) + "]".repeat(1_000),
                              "")))
              .getBytes(UTF_8);
    };
  }

  private List<String> members(Generated plant) {
    List<String> members = new ArrayList<>();
    members.add(member("id", plant.id() == 0 ? pick("0", "-0") : String.valueOf(plant.id())));
    members.add(member("name", string(plant.name())));
    if (plant.tag() != null) {
      members.add(member("tag", string(plant.tag())));
    } else if (random.nextBoolean()) {
      members.add(member("tag", "null"));
    }
    for (int unknown = random.nextInt(3); unknown > 0; unknown--) {
      members.add(member("unknown " + unknown + generator.text(), value(3)));
    }
    Collections.shuffle(members, random);
    return members;
  }

  private String object(List<String> members) {
    return white() + "{" + String.join(",", members) + white() + "}" + white();
  }

  private String member(String name, String value) {
    return white() + string(name) + white() + ":" + white() + value + white();
  }

  private String value(int depth) {
    return switch (random.nextInt(depth == 0 ? 4 : 6)) {
      case 0 -> pick("true", "false", "null");
      case 1 -> pick("0", "-0", "1.50", "-1e-7", "2E+400", "1e999999999", "9".repeat(400));
      case 2 -> string("id");
      case 3 -> string(generator.text());
      case 4 -> "[" + value(depth - 1) + "," + value(depth - 1) + white() + "]";
      default ->
          "{" + member("id", value(depth - 1)) + "," + member("name", value(depth - 1)) + "}";
    };
  }

  private String string(String text) {
    StringBuilder json = new StringBuilder("\"");
    boolean escapesAll = random.nextInt(10) == 0;
    text.chars().forEach(unit -> json.append(character((char) unit, escapesAll)));
    return json.append('"').toString();
  }

  private String character(char unit, boolean escaped) {
    int shortEscape = "\"\\\b\f\n\r\t".indexOf(unit);
    if (shortEscape >= 0 && random.nextBoolean()) {
      return "\\" + "\"\\bfnrt".charAt(shortEscape);
    }
    if (unit == '/' && random.nextBoolean()) {
      return "\\/";
    }
    if (unit < ' ' || unit == '"' || unit == '\\' || escaped) {
      return String.format(random.nextBoolean() ? "\\u%04x" : "\\u%04X", (int) unit);
    }
    return String.valueOf(unit);
  }

  private String white() {
    StringBuilder white = new StringBuilder();
    while (random.nextInt(4) == 0) {
      white.append(WHITE.charAt(random.nextInt(WHITE.length())));
    }
    return white.toString();
  }

  private String wrongId() {
    return pick(
        "\"1\"",
        "1.0",
        "1e2",
        "true",
        "null",
        "[1]",
        "{}",
        "9223372036854775808",
        "-9223372036854775809",
        "9".repeat(5_000),
        "0x1",
        "1_000",
        "--1",
        "");
  }

  private String wrongText() {
    return pick("null", wrongTag());
  }

  private String wrongTag() {
    return pick(
        "1",
        "true",
        "[]",
        "{}",
        "\"\\u0000\"",
        "\"a\\ud800\"",
        "\"\\udc00\\ud800\"",
        "\"\\ud800\\u0061\"",
        "\"\u0001\"",
        "\"",
        "'a'");
  }

  private byte[] withBytesInText(Generated plant) {
    StringBuilder bytes = new StringBuilder();
    for (int value : pick(NOT_UTF_8.toArray(int[][]::new))) {
      bytes.append((char) value);
    }
    return ("{\"id\":" + plant.id() + ",\"name\":\"a" + bytes + "\"}").getBytes(ISO_8859_1);
  }

  private static List<String> plus(List<String> members, String member) {
    List<String> more = new ArrayList<>(members);
    more.add(member);
    return more;
  }

  private static List<String> without(List<String> members, String name) {
    List<String> fewer = new ArrayList<>(members);
    fewer.removeIf(member ->
        member.strip().startsWith("\"" + name + "\"")
            || member.strip().toLowerCase(Locale.ROOT).startsWith(escaped(name)));
    return fewer;
  }

  private static String escaped(String name) {
    StringBuilder escaped = new StringBuilder("\"");
    name.chars().forEach(unit -> escaped.append(String.format("\\u%04x", unit)));
    return escaped.append('"').toString();
  }

  @SafeVarargs
  private <T> T pick(T... choices) {
    return choices[random.nextInt(choices.length)];
  }
}
