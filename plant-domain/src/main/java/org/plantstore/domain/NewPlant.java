package org.plantstore.domain;

import org.jspecify.annotations.Nullable;

/**
 * A plant and the id that its creator chose for it. Immutable and safe for use by many threads.
 *
 * <pre>{@code
 * NewPlant fern = new NewPlant(-7, "fern", "shade");
 * fern.id(); // -7L
 * fern.plant(); // new Plant("fern", "shade")
 * }</pre>
 *
 * @param id the identification number, any {@code long}, including 0 and negative numbers
 * @param name the name of the plant, as in {@link Plant}
 * @param tag the type of the plant, as in {@link Plant}, or null if it has none
 */
public record NewPlant(long id, String name, @Nullable String tag) {

  /**
   * Creates a new plant.
   *
   * @param id the id, any {@code long}
   * @param name the name, not null
   * @param tag the tag, or null if there is none
   * @throws NullPointerException if the name is null
   * @throws InvalidPlantException if the name or the tag contains U+0000 or an unpaired surrogate
   */
  public NewPlant {
    PlantText.require(name, tag);
  }

  /**
   * Returns the plant without its id.
   *
   * @return a plant with the same name and tag
   */
  public Plant plant() {
    return new Plant(name, tag);
  }
}
