package org.plantstore.domain;

import org.jspecify.annotations.Nullable;

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
 * @param name the name of the plant, which may have any length
 * @param tag the tag that specifies the type of the plant, or null if the plant has no tag. A tag
 *     may have any length. An empty tag is not the same as no tag.
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
    PlantText.require(name, tag);
  }
}
