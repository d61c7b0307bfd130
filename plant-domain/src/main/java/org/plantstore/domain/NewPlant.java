package org.plantstore.domain;

import org.jspecify.annotations.Nullable;

/**
 * A plant together with the id that the caller chose for it. Instances are immutable and safe for
 * use by multiple threads.
 *
 * <pre>{@code
 * NewPlant fern = new NewPlant(-7, "fern", "shade");
 * fern.id(); // -7L
 * fern.plant(); // new Plant("fern", "shade")
 * }</pre>
 *
 * @param id the identification number of the plant. Any {@code long} is valid, including 0 and
 *     negative numbers.
 * @param name the name of the plant, which must follow the rules of {@link Plant}
 * @param tag the tag that specifies the type of the plant, or null if the plant has no tag. The tag
 *     must follow the rules of {@link Plant}.
 */
public record NewPlant(long id, String name, @Nullable String tag) {

  /**
   * Creates a plant with an id.
   *
   * @param id the id, any {@code long}
   * @param name the name, not null
   * @param tag the tag, or null if the plant has no tag
   * @throws NullPointerException if the name is null
   * @throws InvalidPlantException if the name or the tag contains U+0000 or an unpaired surrogate
   */
  public NewPlant {
    Plant.requireValid(name, tag);
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
