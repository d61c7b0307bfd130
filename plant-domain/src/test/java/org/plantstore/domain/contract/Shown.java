package org.plantstore.domain.contract;

import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;

/** Plants as failure messages show them: every difference is visible, and no text is long. */
final class Shown {

  private static final int LONGEST = 40;

  /** So much of what is still equal is shown in front of a difference. */
  private static final int BEFORE_DIFFERENCE = 10;

  private Shown() {}

  static String plant(@Nullable NewPlant plant) {
    return plantBeside(plant, plant);
  }

  /** Shows a plant where its texts begin to differ from those of the other. */
  static String plantBeside(@Nullable NewPlant plant, @Nullable NewPlant other) {
    if (plant == null) {
      return "null";
    }
    return "id %d, name %s, %s"
        .formatted(
            plant.id(),
            text(plant.name(), other == null ? null : other.name()),
            plant.tag() == null
                ? "no tag"
                : "tag " + text(plant.tag(), other == null ? null : other.tag()));
  }

  private static String text(String text, @Nullable String other) {
    if (text.length() <= LONGEST) {
      return quoted(text);
    }
    int difference = other == null ? 0 : difference(text, other);
    int start = Math.max(0, difference - BEFORE_DIFFERENCE);
    int end = Math.min(text.length(), start + LONGEST);
    return "%s (from index %d, of %d characters)"
        .formatted(quoted(text.substring(start, end)), start, text.length());
  }

  private static int difference(String text, String other) {
    int shorter = Math.min(text.length(), other.length());
    for (int index = 0; index < shorter; index++) {
      if (text.charAt(index) != other.charAt(index)) {
        return index;
      }
    }
    return text.length() == other.length() ? 0 : shorter;
  }

  /** As Java writes it, with an escape for all but printable ASCII. */
  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int index = 0; index < text.length(); index++) {
      char unit = text.charAt(index);
      if (unit == '"' || unit == '\\') {
        quoted.append('\\').append(unit);
      } else if (unit >= ' ' && unit <= '~') {
        quoted.append(unit);
      } else {
        quoted.append("\\u%04X".formatted((int) unit));
      }
    }
    return quoted.append('"').toString();
  }
}
