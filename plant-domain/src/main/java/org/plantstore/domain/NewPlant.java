package org.plantstore.domain;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * A plant together with the id that its creator chose for it. Immutable, so safe for use by many
 * threads.
 *
 * @param id the identification number, any {@code long}, negative ones and 0 included
 * @param name the name of the plant, as in {@link Plant}
 * @param tag the type of the plant, as in {@link Plant}, or null if it has none
 */
public record NewPlant(long id, String name, @Nullable String tag) {

  /**
   * Makes a new plant.
   *
   * @throws NullPointerException if the name is null
   * @throws InvalidPlantException if the name or the tag has U+0000 or an unpaired surrogate
   */
  public NewPlant {
    requireNonNull(name, "name");
    InvalidPlantException.throwIfTextIsInvalid(name, tag);
  }

  /** Answers the plant without its id. */
  public Plant plant() {
    return new Plant(name, tag);
  }
}
