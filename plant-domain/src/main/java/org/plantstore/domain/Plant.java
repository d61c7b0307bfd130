package org.plantstore.domain;

import org.jspecify.annotations.Nullable;

/**
 * A plant. Immutable and safe for use by many threads.
 *
 * <p>The name and the tag are any Unicode text, which may be empty. They are neither trimmed nor
 * normalised. U+0000 is refused, because PostgreSQL and other databases cannot store it, and so are
 * unpaired surrogates, because they have no UTF-8 form (RFC 3629, section 3).
 *
 * <pre>{@code
 * new Plant(" fern", null).name(); // " fern"
 * new Plant("fern", "").equals(new Plant("fern", null)); // false
 * }</pre>
 *
 * @param name the name of the plant, of any length
 * @param tag the type of the plant, of any length, or null if it has none; an empty tag differs
 *     from none
 */
public record Plant(String name, @Nullable String tag) {

  /**
   * Creates a plant.
   *
   * @param name the name, not null
   * @param tag the tag, or null if there is none
   * @throws NullPointerException if the name is null
   * @throws InvalidPlantException if the name or the tag contains U+0000 or an unpaired surrogate
   */
  public Plant {
    PlantText.require(name, tag);
  }
}
