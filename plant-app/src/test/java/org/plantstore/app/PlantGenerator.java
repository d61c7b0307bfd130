package org.plantstore.app;

import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Plants of all kinds, of the odd ones many; the same ones for the same seed. */
final class PlantGenerator {

  /**
   * A plant as it is to be stored.
   *
   * @param tag the tag, or null if it has none
   */
  record Generated(long id, String name, @Nullable String tag) {}

  private static final List<Long> EDGES_OF_IDS =
      List.of(
          0L,
          1L,
          -1L,
          (1L << 31) - 1,
          1L << 31,
          (1L << 32) + 1,
          (1L << 53) - 1,
          (1L << 53) + 1,
          Long.MAX_VALUE - 1,
          Long.MAX_VALUE,
          Long.MIN_VALUE + 1,
          Long.MIN_VALUE);

  /** First and last of what is encoded, written or treated alike. */
  private static final int[] EDGES_OF_TEXT = {
    0x01, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x1F, 0x20, '"', '\'', '/', '\\', '{', '}', '[', ',',
    '$', '%', 0x7F, 0x80, 0x85, 0xA0, 0xAD, 0xFF, 0x100, 0x130, 0x131, 0x300, 0x301, 0x345, 0x7FF,
    0x800, 0x1100, 0x1161, 0x200B, 0x200D, 0x200E, 0x202E, 0x2028, 0x2029, 0xAC00, 0xD7FF, 0xE000,
    0xF8FF, 0xFDD0, 0xFE0F, 0xFEFF, 0xFFF9, 0xFFFD, 0xFFFE, 0xFFFF, 0x10000, 0x1D11E, 0x1F1E6,
    0x1F33F, 0x1FFFE, 0xE0001, 0x10FFFE, 0x10FFFF
  };

  private final Random random;
  private int edges;

  PlantGenerator(Random random) {
    this.random = random;
  }

  Generated plant() {
    return new Generated(id(), text(), random.nextInt(3) == 0 ? null : text());
  }

  private long id() {
    if (edges < EDGES_OF_IDS.size()) {
      return EDGES_OF_IDS.get(edges++);
    }
    return random.nextBoolean() ? random.nextLong() : random.nextLong() >> random.nextInt(64);
  }

  String text() {
    int length =
        switch (random.nextInt(20)) {
          case 0 -> 0;
          case 1 -> 1;
          case 2 -> random.nextInt(20_000);
          default -> random.nextInt(30);
        };
    StringBuilder text = new StringBuilder();
    for (int count = 0; count < length; count++) {
      text.appendCodePoint(codePoint());
    }
    return text.toString();
  }

  private int codePoint() {
    return switch (random.nextInt(6)) {
      case 0 -> EDGES_OF_TEXT[random.nextInt(EDGES_OF_TEXT.length)];
      case 1 -> 1 + random.nextInt(0x9F);
      case 2 -> 0x300 + random.nextInt(0x70);
      case 3 -> {
        int any = 1 + random.nextInt(Character.MAX_CODE_POINT);
        yield Character.getType(any) == Character.SURROGATE ? any - 0x1000 : any;
      }
      default -> 'a' + random.nextInt(26);
    };
  }
}
