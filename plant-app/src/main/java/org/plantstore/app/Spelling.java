package org.plantstore.app;

import static java.util.Comparator.comparingInt;

import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * Suggests the correct spelling of a misspelled name. Comparisons ignore case and all characters
 * other than letters.
 */
final class Spelling {

  private Spelling() {}

  /**
   * Returns a hint that suggests the closest known name. If no known name is close, the hint
   * suggests {@code --help}.
   */
  static String remedy(String name, Collection<String> known) {
    return closest(name, known)
        .map(closest -> "did you mean " + closest + "?")
        .orElse("see plant-store --help");
  }

  /**
   * Returns a known name that is similar to the given name or is a prefix of the given name. If
   * several known names match, returns the one whose length is closest to the given name's length.
   */
  static Optional<String> closest(String name, Collection<String> known) {
    String letters = letters(name);
    return known.stream()
        .filter(other -> isClose(name, other) || letters.startsWith(letters(other)))
        .min(comparingInt(other -> Math.abs(letters(other).length() - letters.length())));
  }

  /**
   * Returns whether two names are similar. Two names are similar if removing at most one letter
   * from each of them can make them equal. A name that has at least two words is also similar to a
   * longer name if each of its words is a prefix of a word in the longer name, in the same order.
   * For example, MAX_CONN is similar to MAX_CONNECTIONS.
   */
  static boolean isClose(String name, String other) {
    String[] words = words(name).split("_");
    return !Collections.disjoint(shortened(letters(name)), shortened(letters(other)))
        || (words.length > 1
            && ("_" + words(other)).matches(".*_" + String.join("[A-Z]*_(.*_)?", words) + ".*"));
  }

  static String letters(String name) {
    return words(name).replace("_", "");
  }

  private static String words(String name) {
    return name.toUpperCase(Locale.ROOT).replaceAll("[^A-Z]+", "_").replaceAll("^_|_$", "");
  }

  /** Returns the given string, and every string that results from removing one of its letters. */
  private static Set<String> shortened(String text) {
    Set<String> texts = new HashSet<>(Set.of(text));
    for (int letter = 0; letter < text.length(); letter++) {
      texts.add(new StringBuilder(text).deleteCharAt(letter).toString());
    }
    return texts;
  }
}
