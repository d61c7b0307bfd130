package org.plantstore.domain.contract;

import static java.util.stream.Collectors.joining;

import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;

/** Describes plants in printable ASCII for failure messages, and abbreviates long descriptions. */
final class Description {

  private static final int MAX_LENGTH = 150;

  private Description() {}

  /**
   * Returns a description of a plant. A long description is shortened to a part that contains the
   * first difference from the other plant, if there is one.
   */
  static String of(@Nullable NewPlant plant, @Nullable NewPlant other) {
    String text = whole(plant);
    if (text.length() <= MAX_LENGTH) {
      return text;
    }
    int difference = Arrays.mismatch(text.toCharArray(), whole(other).toCharArray());
    int start = Math.max(0, difference - 10);
    String part = text.substring(start, Math.min(text.length(), start + MAX_LENGTH));
    return "a plant whose description, from character " + start + ", is " + part;
  }

  private static String whole(@Nullable NewPlant plant) {
    if (plant == null) {
      return "null";
    }
    String tag = plant.tag() == null ? "no tag" : "tag \"" + plant.tag() + "\"";
    return ("id " + plant.id() + ", name \"" + plant.name() + "\", " + tag)
        .chars()
        .mapToObj(
            unit -> String.format(Locale.ROOT, unit < ' ' || unit > '~' ? "\\u%04X" : "%c", unit))
        .collect(joining());
  }
}
