package org.plantstore.domain;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.InvalidPlantException.Violation;

/**
 * A plant with a name and an optional tag. Instances are immutable and safe for use by multiple
 * threads.
 *
 * <p>The name and the tag may contain any Unicode text except U+0000 and unpaired surrogates, and
 * either may be empty. Text is neither trimmed nor normalized. U+0000 is rejected because
 * PostgreSQL and other databases cannot store it. Unpaired surrogates are rejected because they
 * cannot be encoded in UTF-8 (RFC 3629, section 3).
 *
 * <pre>{@code
 * new Plant(" fern", null).name(); // " fern"
 * new Plant("fern", "").equals(new Plant("fern", null)); // false
 * }</pre>
 *
 * @param name the plant's name, which may be of any length
 * @param tag the tag that specifies the type of the plant, or null if the plant has no tag. A tag
 *     may be of any length. An empty tag is not the same as no tag.
 */
public record Plant(String name, @Nullable String tag) {

  /**
   * Creates a plant.
   *
   * @param name the name, not null
   * @param tag the tag, or null if the plant has no tag
   * @throws NullPointerException if the name is null
   * @throws InvalidPlantException if the name or the tag contains U+0000 or an unpaired surrogate
   */
  public Plant {
    requireValid(name, tag);
  }

  /** Throws an exception if the name is null, or if the name or the tag contains invalid text. */
  static void requireValid(String name, @Nullable String tag) {
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
