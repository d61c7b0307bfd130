package org.plantstore.domain;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.InvalidPlantException.Violation;

/** Checks that a plant's name and tag are valid text. */
final class PlantText {

  private PlantText() {}

  /** Throws an exception if the name is null, or if the name or the tag contains invalid text. */
  static void require(String name, @Nullable String tag) {
    List<Violation> violations = new ArrayList<>();
    addIfInvalid("name", requireNonNull(name, "name"), violations);
    addIfInvalid("tag", tag == null ? "" : tag, violations);
    if (!violations.isEmpty()) {
      throw new InvalidPlantException(violations, null);
    }
  }

  private static void addIfInvalid(String field, String text, List<Violation> violations) {
    int index = indexOfInvalid(text);
    if (index >= 0) {
      String invalid = text.charAt(index) == 0 ? "U+0000" : "an unpaired surrogate";
      String rule = "must not contain " + invalid + " (found at index " + index + ")";
      violations.add(new Violation(field, rule));
    }
  }

  private static int indexOfInvalid(String text) {
    for (int index = 0; index < text.length(); index++) {
      char unit = text.charAt(index);
      if (unit == 0) {
        return index;
      }
      if (Character.isSurrogate(unit)) {
        boolean paired =
            index + 1 < text.length() && Character.isSurrogatePair(unit, text.charAt(index + 1));
        if (!paired) {
          return index;
        }
        index++;
      }
    }
    return -1;
  }
}
