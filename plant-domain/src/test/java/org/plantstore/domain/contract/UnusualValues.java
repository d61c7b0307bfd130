package org.plantstore.domain.contract;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Ids and texts that databases, drivers and encodings are known to change. */
final class UnusualValues {

  private static final int PLANE = 0x10000;

  /** Taken for nothing, for a number, a truth value or a time, for a comment or a formula. */
  private static final String WORDS =
      "null NULL \\N \\. undefined - 007 1.0 1,5 1e3 0x1F 12345678901234567 NaN yes no true"
          + " 2026-01-31 12:30 A0000000-0000-4000-8000-00000000000F \"quoted\" #leading =leading";

  private static final List<String> SHORT_TEXTS =
      List.of(
          "",
          " ",
          " leading",
          "trailing ",
          "\ttabs\r\nand\nline breaks\r",
          "\u00E9 composed",
          "e\u0301 decomposed",
          "\u212B, which is canonically \u00C5",
          "\uFB01, which is compatible with fi",
          "Upper and lower case, \u0130\u0131\u1E9E\u00DF",
          "\uFEFFbyte order mark",
          "\u200B\u200E\u202E\u2066\u00AD\u200C\u200D invisible",
          "\uD83C\uDF3F beyond the basic plane",
          "\uFFFD a replacement character",
          "double  blanks, and a last line break\n",
          " 7",
          "2026-01-31 12:30",
          "{d '2026-01-31'}",
          "'' \"\" \\\\ \\n %% $$ ?? && + $HOME &#39; || :: \u0001\u0001",
          "\\N \\u0041 \\x41 %41 &amp; \\",
          "'; DROP TABLE plant; --",
          "{\"name\":\"%s ? $1 :name ${name}\"}");

  /** The words, the short texts, texts of 1 MiB or more, and one text for each plane of Unicode. */
  static final List<String> TEXTS =
      Stream.of(
              SHORT_TEXTS.stream(),
              Stream.of(WORDS.split(" ")),
              Stream.of("x".repeat((1 << 21) + 1)),
              Stream.of("", "x").map(start -> start + "\uD83C\uDF3F".repeat(1 << 18)),
              IntStream.rangeClosed(0, Character.MAX_CODE_POINT / PLANE)
                  .mapToObj(UnusualValues::plane))
          .flatMap(texts -> texts)
          .toList();

  /** Texts of which databases are known to take one for another. */
  static final List<List<String>> ALIKE =
      List.of(
          List.of("case", "CASE"),
          List.of("\u0131s", "is"),
          List.of("stra\u00DFe", "strasse"),
          List.of("accent", "acc\u00E9nt"),
          List.of("\u00E9", "e\u0301", "\u00E8"),
          List.of("\u03C3", "\u03C2"),
          List.of("\u3042", "\u30A2"),
          List.of("\uD83C\uDF3F", "\uD83C\uDF35"),
          List.of("wide", "\uFF57ide"),
          List.of("padding", "padding ", " padding"),
          List.of("two blanks", "two  blanks", "two\tblanks", "two\u00A0blanks"),
          List.of("line\nbreak", "line\r\nbreak"),
          List.of("ignored", "ig\u200Bnored", "ig\u00ADnored", "\uFEFFignored", "ig-nored"),
          List.of("pattern", "pat%", "patter_"),
          List.of("007", "7"),
          List.of("1.0", "1"),
          List.of("true", "yes"),
          List.of("Aa", "BB"), // in Java they have one hash
          List.of("plumless", "buckeroo"), // of one CRC-32
          List.of("x".repeat(255) + "y", "x".repeat(255) + "z"),
          List.of("x".repeat(5_000) + "y", "x".repeat(5_000) + "z"),
          List.of("x".repeat(1 << 20) + "y", "x".repeat(1 << 20) + "z"));

  private UnusualValues() {}

  static LongStream ids() {
    return LongStream.of(
        Long.MIN_VALUE,
        Long.MIN_VALUE + 1,
        Integer.MIN_VALUE - 1L,
        -1,
        0,
        1,
        Integer.MAX_VALUE + 1L,
        1L << 53,
        (1L << 53) + 1,
        Long.MAX_VALUE - 1,
        Long.MAX_VALUE);
  }

  /** Returns every code point of a plane that text may have: not U+0000, and no surrogates. */
  private static String plane(int plane) {
    return IntStream.range(plane * PLANE, (plane + 1) * PLANE)
        .filter(point -> point > 0)
        .filter(point -> point < Character.MIN_SURROGATE || point > Character.MAX_SURROGATE)
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }
}
