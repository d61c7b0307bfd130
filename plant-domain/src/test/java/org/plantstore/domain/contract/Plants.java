package org.plantstore.domain.contract;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;

/**
 * Creates the plants for the contract test kit. No other class of the kit creates text, so a
 * stricter rule for text affects only this class.
 */
final class Plants {

  private static final int PLANE = 0x10000;

  /** The number of characters of text that every store must support in a plant. */
  private static final int SHORT = 100;

  private static final String LEAF = "\uD83C\uDF3F";

  /** Words that software may mistake for null, a number, a boolean, a date, or a formula. */
  private static final String WORDS =
      "null NULL \\N undefined 007 1.0 1e3 0x1F 12345678901234567 NaN no true 2026-01-31"
          + " A0000000-0000-4000-8000-00000000000F \"quoted\" #leading =leading";

  /** Strings that software may convert, escape, or replace. */
  private static final String[] SHORT_TEXTS = {
    "\ttabs\r\nand\nline breaks\r",
    "\uFEFFbyte order mark, \u200B\u200E\u202E\u2066\u00AD\u200C\u200D, " + LEAF + " and \uFFFD",
    "'' \"\" \\\\ \\n %% $$ ?? && + $HOME &#39; || :: \u0001\u0001",
    "\\N \\u0041 \\x41 %41 &amp; \\",
    "'; DROP TABLE plant; --",
    "{\"name\":\"%s ? $1 :name ${name}\"}"
  };

  /**
   * Groups of strings that become equal through trimming, normalization, case folding, conversion,
   * or hashing, or that match one another if one string is used as a pattern.
   */
  private static final @Nullable String[][] SIMILAR = {
    {null, "", " ", "\t", "\u200B", "null", "%"},
    {"fern", "FERN", "fren", "f\u00E8rn", "fe\u0300rn", "fe\u00ADrn", "\uFF46ern", "f_rn", "f.*"},
    {"fern", "fern ", " fern", "f  ern", "f ern", "fern\n", "fern\u00A0", "fern\u0001"},
    {"i", "I", "\u0130", "\u0131", "i\u0307", "\uFB01", "fi"},
    {"ss", "\u00DF", "\u1E9E", "A", "\u0141", "\u00C5", "\u212B", "A\u030A"},
    {LEAF, "\uD83C\uDF40", "\uFFFD", "?", "??"},
    {"Aa", "BB", "plumless", "buckeroo", "costarring", "liquid"}, // equal hashCode, CRC-32, FNV
    {"1", "01", "1.0", "1e0", "true"}
  };

  private Plants() {}

  static NewPlant plant(long id) {
    return new NewPlant(id, "plant " + id, "tag " + id);
  }

  static List<NewPlant> plants(long first, long end) {
    return LongStream.range(first, end).mapToObj(Plants::plant).toList();
  }

  /**
   * Returns a competing plant for an id. The number determines the name of that plant, and its tag,
   * if any.
   */
  static NewPlant rival(long id, int number) {
    return new NewPlant(id, "rival " + number, number % 3 == 0 ? null : "tag " + number);
  }

  /** Returns a plant whose tag has the given length. */
  static NewPlant large(long id, int length) {
    return new NewPlant(id, "large", "x".repeat(length));
  }

  /**
   * Returns whether a store is allowed to reject the plant because of its database engine's size
   * limits.
   */
  static boolean mayBeRejected(@Nullable NewPlant plant) {
    return plant != null && (plant.name() + Objects.toString(plant.tag(), "")).length() > SHORT;
  }

  /**
   * Returns plants whose ids are at the limits of numeric types that stores, drivers, and formats
   * use.
   */
  static List<NewPlant> withBoundaryIds() {
    long beyondInt = 1L << 31;
    long beyondDouble = 1L << 53;
    return LongStream.of(
            Long.MIN_VALUE + 1, -beyondInt, 0, beyondInt, beyondDouble, Long.MAX_VALUE - 1)
        .flatMap(bound -> LongStream.of(bound - 1, bound, bound + 1))
        .mapToObj(Plants::plant)
        .toList();
  }

  /**
   * Returns plants with text that some databases, drivers, or encodings change, and plants with
   * text of the largest size. The parameter specifies the largest size, in bytes of UTF-8.
   */
  static List<NewPlant> unusual(int largest) {
    List<NewPlant> plants = new ArrayList<>();
    Stream<String> planes = IntStream.range(0, 17).mapToObj(Plants::plane);
    Stream<String> similar = Stream.of(SIMILAR).flatMap(Stream::of).filter(Objects::nonNull);
    Stream.of(similar, Stream.of(SHORT_TEXTS), Stream.of(WORDS.split(" ")), planes)
        .flatMap(texts -> texts)
        .forEach(text -> plants.add(plant(plants, text, text)));
    plants.add(plant(plants, "", null));
    plants.add(plant(plants, "a name", null));
    plants.add(plant(plants, "a name", ""));
    plants.add(plant(plants, "x".repeat(largest), null));
    // One of the store's buffers may end in the middle of a surrogate pair.
    plants.add(plant(plants, "", "xx" + LEAF.repeat((largest - 2) / 4)));
    return plants;
  }

  private static NewPlant plant(List<NewPlant> before, String name, @Nullable String tag) {
    return new NewPlant(100 + before.size(), name, tag);
  }

  /** Returns every code point of a Unicode plane except U+0000 and surrogates. */
  private static String plane(int plane) {
    return IntStream.range(plane * PLANE, (plane + 1) * PLANE)
        .filter(point -> point > 0 && Character.getType(point) != Character.SURROGATE)
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }

  /**
   * Returns lists of plants that a store may mistake for one another. All plants in a list have the
   * same id, and each list has a different id. For every plant of a group, there is a list that
   * begins with that plant.
   */
  static List<List<NewPlant>> similar(int largest) {
    List<@Nullable String[]> texts = new ArrayList<>(List.of(SIMILAR));
    for (int length : new int[] {SHORT - 10, 300, 5_000, 70_000, largest - 10}) {
      String text = "x".repeat(length - 1);
      String middle = new StringBuilder(text).insert(length / 2, "y").toString();
      texts.add(new String[] {"x", text + "x", text + "y", middle});
    }
    List<List<Plant>> groups = new ArrayList<>();
    for (@Nullable String[] group : texts) {
      Stream<String> names = Stream.of(group).filter(Objects::nonNull);
      groups.add(names.map(name -> new Plant(name, "shade")).toList());
      groups.add(Stream.of(group).map(tag -> new Plant("fern", tag)).toList());
    }
    for (String gap : List.of("", ",", "\t", "\n", ", tag=")) {
      groups.add(List.of(new Plant("a", "b" + gap + "c"), new Plant("a" + gap + "b", "c")));
    }
    List<List<NewPlant>> lists = new ArrayList<>();
    for (List<Plant> group : groups) {
      for (Plant first : group) {
        long id = lists.size();
        Stream<Plant> plants = Stream.concat(Stream.of(first), group.stream());
        lists.add(plants.map(each -> new NewPlant(id, each.name(), each.tag())).toList());
      }
    }
    return lists;
  }

  /**
   * Returns the plant whose id, name, and tag are determined by a line. The line begins with the id
   * and a space. Some of these plants are large.
   */
  static NewPlant ofLine(String line) {
    int hash = line.hashCode();
    long id = Long.parseLong(line, 0, line.indexOf(' '), 10);
    String tag = line.repeat(hash % 29 == 0 ? 20_000 : 1);
    return new NewPlant(id, line, hash % 3 == 0 ? null : tag);
  }
}
