package org.plantstore.app;

import static java.util.Comparator.comparingDouble;

import java.util.Collection;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** Compares the letters of names, to find the one that was probably meant. */
final class Spelling {

  private static final double MAX_DIFFERENT_SHARE = 0.4;

  private Spelling() {}

  /** Returns a remedy that suggests the most similar of the known names, if one is similar. */
  static String remedy(String name, Collection<String> known) {
    ToDoubleFunction<String> share =
        other ->
            (double) difference(letters(name), letters(other))
                / (letters(name).length() + letters(other).length());
    return known.stream()
        .min(comparingDouble(share))
        .filter(other -> share.applyAsDouble(other) <= MAX_DIFFERENT_SHARE)
        .map(closest -> "did you mean " + closest + "?")
        .orElse("see plant-store --help");
  }

  /** Returns whether one letter was omitted, added, replaced, or exchanged with the next. */
  static boolean isSlip(String name, String other) {
    return difference(letters(name), letters(other)) <= 2
        && Math.abs(letters(name).length() - letters(other).length()) <= 1;
  }

  private static String letters(String name) {
    return name.toUpperCase(Locale.ROOT).replaceAll("[^A-Z]", "");
  }

  /** Returns how many letters must be deleted and inserted to turn one name into the other. */
  private static int difference(String name, String other) {
    int[][] differences = new int[name.length() + 1][other.length() + 1];
    for (int i = 0; i <= name.length(); i++) {
      for (int j = 0; j <= other.length(); j++) {
        if (i == 0 || j == 0) {
          differences[i][j] = i + j;
        } else if (name.charAt(i - 1) == other.charAt(j - 1)) {
          differences[i][j] = differences[i - 1][j - 1];
        } else {
          differences[i][j] = 1 + Math.min(differences[i - 1][j], differences[i][j - 1]);
        }
      }
    }
    return differences[name.length()][other.length()];
  }
}
