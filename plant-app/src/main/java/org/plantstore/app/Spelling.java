package org.plantstore.app;

import static java.util.Comparator.comparingInt;

import java.util.Collection;
import java.util.Locale;
import java.util.Optional;

/** Compares the letters of names, to find the one that was probably meant. */
final class Spelling {

  private Spelling() {}

  /** Returns a remedy that suggests the closest of the known names, if one is close. */
  static String remedy(String name, Collection<String> known) {
    return closest(name, known)
        .map(closest -> "did you mean " + closest + "?")
        .orElse("see plant-store --help");
  }

  /** Returns the closest of the known names that are close, or that the name begins with. */
  static Optional<String> closest(String name, Collection<String> known) {
    String letters = letters(name);
    return known.stream()
        .filter(other -> isClose(name, other) || letters.startsWith(letters(other)))
        .min(comparingInt(other -> difference(letters, letters(other))));
  }

  /**
   * Returns whether at most one letter was omitted, added, replaced, or exchanged with the next, or
   * the name has several words, and the other has these too, perhaps longer and among others.
   */
  static boolean isClose(String name, String other) {
    String[] words = words(name).split("_");
    boolean isSlip =
        difference(letters(name), letters(other)) <= 2
            && Math.abs(letters(name).length() - letters(other).length()) <= 1;
    return isSlip
        || (words.length > 1
            && ("_" + words(other)).matches(".*_" + String.join("[A-Z]*_(.*_)?", words) + ".*"));
  }

  private static String words(String name) {
    return name.toUpperCase(Locale.ROOT).replaceAll("[^A-Z]+", "_").replaceAll("^_|_$", "");
  }

  static String letters(String name) {
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
