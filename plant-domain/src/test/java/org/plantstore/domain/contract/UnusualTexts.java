package org.plantstore.domain.contract;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** What databases, drivers and encodings are known to change, and then all Unicode. */
final class UnusualTexts {

  private static final int PLANE = 0x10000;

  static final List<String> SHORT =
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
          "null",
          "\\N \\u0041 \\x41 %41 &amp; \\",
          "'; DROP TABLE plant; --",
          "{\"name\":\"%s ? $1 :name ${name}\"}");

  static final List<String> ALL =
      Stream.of(
              SHORT.stream(),
              Stream.of("x".repeat((1 << 21) + 1), "\uD83C\uDF3F".repeat(1 << 18)),
              IntStream.rangeClosed(0, Character.MAX_CODE_POINT / PLANE)
                  .mapToObj(UnusualTexts::plane))
          .flatMap(texts -> texts)
          .toList();

  private UnusualTexts() {}

  /** Every code point of a plane that text may have: surrogates are none, U+0000 is excluded. */
  private static String plane(int plane) {
    return IntStream.range(plane * PLANE, (plane + 1) * PLANE)
        .filter(point -> point > 0)
        .filter(point -> point < Character.MIN_SURROGATE || point > Character.MAX_SURROGATE)
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }
}
