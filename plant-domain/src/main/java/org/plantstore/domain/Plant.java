package org.plantstore.domain;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * A plant as the store answers it. Immutable, so safe for use by many threads.
 *
 * <p>Text is any Unicode text, the empty one included, kept exactly as given: it is neither trimmed
 * nor normalised. Refused are U+0000, which PostgreSQL among others cannot keep, and unpaired
 * surrogates, which have no UTF-8 form (RFC 3629, section 3): such text could not be kept or
 * answered unchanged.
 *
 * <pre>{@code
 * new Plant(" fern", null).name(); // " fern"
 * new Plant("fern", "").equals(new Plant("fern", null)); // false
 * }</pre>
 *
 * @param name the name of the plant, of any length
 * @param tag the type of the plant, of any length, or null if it has none; an empty tag is a tag
 */
public record Plant(String name, @Nullable String tag) {

  /**
   * Makes a plant.
   *
   * @param name the name, not null
   * @param tag the tag, or null if there is none
   * @throws NullPointerException if the name is null
   * @throws InvalidPlantException if the name or the tag contains U+0000 or an unpaired surrogate
   */
  public Plant {
    requireNonNull(name, "name");
    InvalidPlantException.throwIfTextIsInvalid(name, tag);
  }
}
