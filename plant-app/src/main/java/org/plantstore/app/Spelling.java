package org.plantstore.app;

import static java.util.Comparator.comparingInt;

import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** Suggests the correct spelling of a misspelled name. Comparisons ignore case and nonletters. */
final class Spelling {

  private Spelling() {}

  /** Returns a hint that suggests the closest known name, or {@code --help} if none is close. */
  static String remedy(String name, Collection<String> known) {
    return closest(name, known)
        .map(closest -> "did you mean " + closest + "?")
        .orElse("see plant-store --help");
  }

  /** Returns the closest known name that resembles the given name or is a prefix of it. */
  static Optional<String> closest(String name, Collection<String> known) {
    String letters = letters(name);
    return known.stream()
        .filter(other -> isClose(name, other) || letters.startsWith(letters(other)))
        .min(comparingInt(other -> Math.abs(letters(other).length() - letters.length())));
  }

  /**
   * Returns whether two names become equal if at most one letter is removed from each, or the words
   * of the first name are, in order, prefixes of words in the second name, such as MAX_CONN and
   * MAX_CONNECTIONS.
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

  /** Returns the text itself and every text that results from removing one letter. */
  private static Set<String> shortened(String text) {
    Set<String> texts = new HashSet<>(Set.of(text));
    for (int letter = 0; letter < text.length(); letter++) {
      texts.add(new StringBuilder(text).deleteCharAt(letter).toString());
    }
    return texts;
  }
}
