package org.plantstore.domain.contract;

import static java.util.stream.Collectors.joining;

import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;

/**
 * Describes plants in failure messages: shortens long text, and escapes all but printable ASCII.
 */
final class Description {

  private static final int MAX_LENGTH = 40;

  /** The number of equal characters that are shown in front of a difference. */
  private static final int CONTEXT = 10;

  private Description() {}

  static String of(@Nullable NewPlant plant) {
    return of(plant, plant);
  }

  /** Returns a description that shows the first difference to the other plant. */
  static String of(@Nullable NewPlant plant, @Nullable NewPlant other) {
    if (plant == null) {
      return "null";
    }
    NewPlant compared = other == null ? plant : other;
    String tag = plant.tag() == null ? "no tag" : "tag " + text(plant.tag(), compared.tag());
    return "id " + plant.id() + ", name " + text(plant.name(), compared.name()) + ", " + tag;
  }

  private static String text(String text, @Nullable String other) {
    int length = text.length();
    if (length <= MAX_LENGTH) {
      return quoted(text);
    }
    int difference = other == null ? 0 : Arrays.mismatch(text.toCharArray(), other.toCharArray());
    int start = Math.max(0, difference - CONTEXT);
    String part = quoted(text.substring(start, Math.min(length, start + MAX_LENGTH)));
    return part + " (from index " + start + ", of " + length + " characters)";
  }

  private static String quoted(String text) {
    return text.chars().mapToObj(Description::escaped).collect(joining("", "\"", "\""));
  }

  private static String escaped(int unit) {
    boolean printable = unit >= ' ' && unit <= '~' && unit != '"' && unit != '\\';
    return printable ? Character.toString(unit) : String.format(Locale.ROOT, "\\u%04X", unit);
  }
}
