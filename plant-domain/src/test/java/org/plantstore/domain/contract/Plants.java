package org.plantstore.domain.contract;

import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;

/**
 * The plants of the kit. No other class of the kit makes texts, so a stricter rule for text changes
 * only this one.
 */
final class Plants {

  private static final int PLANE = 0x10000;

  /** A store may refuse longer texts, with {@code InvalidPlantException}. */
  private static final int SHORT = 100;

  private static final String LEAF = "\uD83C\uDF3F";

  /** Taken for nothing, for a number, a truth value or a time, for a comment or a formula. */
  private static final String WORDS =
      "null NULL \\N \\. undefined - 007 1.0 1,5 1e3 0x1F 12345678901234567 NaN yes no true"
          + " 2026-01-31 12:30 A0000000-0000-4000-8000-00000000000F \"quoted\" #leading =leading";

  /** Trimmed, normalised, converted, escaped or replaced. */
  private static final String[] SHORT_TEXTS = {
    "",
    " ",
    " leading",
    "trailing ",
    "\ttabs\r\nand\nline breaks\r",
    "double  blanks, and a last line break\n",
    "\u00E9 e\u0301 \u212B \uFB01 \u0130\u0131\u1E9E\u00DF",
    "\uFEFFbyte order mark, \u200B\u200E\u202E\u2066\u00AD\u200C\u200D, " + LEAF + " and \uFFFD",
    " 7",
    "2026-01-31 12:30",
    "{d '2026-01-31'}",
    "'' \"\" \\\\ \\n %% $$ ?? && + $HOME &#39; || :: \u0001\u0001",
    "\\N \\u0041 \\x41 %41 &amp; \\",
    "'; DROP TABLE plant; --",
    "{\"name\":\"%s ? $1 :name ${name}\"}"
  };

  /** Words that databases are known to take for one another; some have one hash, or checksum. */
  private static final String ALIKE =
      "case/CASE \u0131s/is stra\u00DFe/strasse accent/acc\u00E9nt \u00E9/e\u0301/\u00E8"
          + " \u03C3/\u03C2 \u3042/\u30A2 \uD83C\uDF3F/\uD83C\uDF35 wide/\uFF57ide 007/7 1.0/1"
          + " true/yes pattern/pat%/patter_ Aa/BB plumless/buckeroo"
          + " ignored/ig\u200Bnored/ig\u00ADnored/\uFEFFignored/ig-nored";

  private static final List<List<String>> BLANKS_ALIKE =
      List.of(
          List.of("padding", "padding ", " padding"),
          List.of("two blanks", "two  blanks", "two\tblanks", "two\u00A0blanks"),
          List.of("line\nbreak", "line\r\nbreak"));

  private Plants() {}

  static NewPlant plant(long id) {
    return new NewPlant(id, "plant " + id, "tag " + id);
  }

  static List<NewPlant> plants(long first, long end) {
    return LongStream.range(first, end).mapToObj(Plants::plant).toList();
  }

  /** Returns plants that differ in little more than their ids. */
  static List<NewPlant> alikeWithOtherIds() {
    NewPlant fern = new NewPlant(2, "fern", "shade");
    return List.of(fern, withId(3, fern), new NewPlant(4, "fern", null));
  }

  /** Returns another plant for an id; some have no tag. */
  static NewPlant rival(long id, int number) {
    return new NewPlant(id, "rival " + number, number % 3 == 0 ? null : "tag " + number);
  }

  /** Returns another plant for an id, with a text of a length in its tag. */
  static NewPlant large(long id, int number, int length) {
    return new NewPlant(id, "large " + number, "x".repeat(length));
  }

  /** Returns whether a store may refuse the plant, because its engine may have a limit. */
  static boolean isRefusable(@Nullable NewPlant plant) {
    return plant != null && (plant.name() + Objects.toString(plant.tag(), "")).length() > SHORT;
  }

  /** Returns a plant for each id at a bound that a store, a driver or a format may have. */
  static List<NewPlant> bounds() {
    long beyondInt = 1L << 31;
    long beyondDouble = 1L << 53;
    return LongStream.of(
            Long.MIN_VALUE + 1, -beyondInt, 0, beyondInt, beyondDouble, Long.MAX_VALUE - 1)
        .flatMap(bound -> LongStream.of(bound - 1, bound, bound + 1))
        .mapToObj(Plants::plant)
        .toList();
  }

  /**
   * Returns plants with texts that databases, drivers and encodings are known to change, and with
   * the largest text, in bytes of UTF-8.
   */
  static List<NewPlant> unusual(int largest) {
    List<NewPlant> plants = new ArrayList<>();
    IntStream planes = IntStream.rangeClosed(0, Character.MAX_CODE_POINT / PLANE);
    Stream.of(Stream.of(SHORT_TEXTS), Stream.of(WORDS.split(" ")), planes.mapToObj(Plants::plane))
        .flatMap(texts -> texts)
        .forEach(text -> plants.add(text(text, text)));
    for (String name : List.of("", "a name")) {
      plants.add(text(name, null));
      plants.add(text(name, ""));
    }
    plants.add(text("x".repeat(largest), null));
    for (String start : List.of("", "xx")) { // a buffer may end within a pair
      plants.add(text("", start + LEAF.repeat((largest - start.length()) / 4)));
    }
    return IntStream.range(0, plants.size())
        .mapToObj(index -> withId(100 + index, plants.get(index)))
        .toList();
  }

  /** Returns every code point of a plane that text may have: not U+0000, and no surrogates. */
  private static String plane(int plane) {
    return IntStream.range(plane * PLANE, (plane + 1) * PLANE)
        .filter(point -> point > 0 && Character.getType(point) != Character.SURROGATE)
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }

  /**
   * Returns groups of plants, each group for an id of its own, of which databases are known to take
   * one for the first.
   */
  static List<List<NewPlant>> alike(int largest) {
    Stream<List<String>> words = Stream.of(ALIKE.split(" ")).map(word -> List.of(word.split("/")));
    Stream<List<String>> endings =
        Stream.of(255, 5_000, largest / 2 - 1) // a plant has the text twice
            .map("x"::repeat)
            .map(start -> List.of(start + "y", start + "z"));
    List<List<NewPlant>> groups = new ArrayList<>();
    Stream.of(words, BLANKS_ALIKE.stream(), endings)
        .flatMap(texts -> texts)
        .forEach(texts -> groups.add(alike(texts)));
    groups.add(
        Stream.of("shade", "Shade", "", "null", null).map(tag -> text("fern", tag)).toList());
    for (String separator : List.of("", " ", "|", ",", ";", ":", "\t", "\n")) {
      groups.add(List.of(text("a" + separator + "b", "c"), text("a", "b" + separator + "c")));
    }
    List<List<NewPlant>> withIds = new ArrayList<>();
    for (List<NewPlant> group : groups) {
      for (NewPlant first : group) {
        int id = withIds.size();
        Stream<NewPlant> plants = Stream.concat(Stream.of(first), group.stream());
        withIds.add(plants.map(plant -> withId(id, plant)).toList());
      }
    }
    return withIds;
  }

  private static List<NewPlant> alike(List<String> texts) {
    String first = texts.get(0);
    List<NewPlant> plants = new ArrayList<>(List.of(text(first, null), text(first, first)));
    for (String text : texts.subList(1, texts.size())) {
      plants.add(text(text, first));
      plants.add(text(first, text));
    }
    return plants;
  }

  /** Returns a plant with any texts, of any length, that a rule for text may forbid. */
  private static NewPlant text(String name, @Nullable String tag) {
    return new NewPlant(0, name, tag);
  }

  private static NewPlant withId(long id, NewPlant plant) {
    return new NewPlant(id, plant.name(), plant.tag());
  }

  /**
   * Returns the plant of a line, which begins with an id and a blank. Some texts are long, and
   * cannot be compressed to short ones.
   */
  static NewPlant ofLine(String line) {
    int hash = line.hashCode();
    byte[] random = new byte[hash % 29 == 0 ? 150_000 : 9];
    new SplittableRandom(hash).nextBytes(random);
    long id = Long.parseLong(line, 0, line.indexOf(' '), 10);
    String tag = line + Base64.getEncoder().encodeToString(random);
    return new NewPlant(id, line, hash % 3 == 0 ? null : tag);
  }
}
