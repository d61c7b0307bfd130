package org.plantstore.domain;

import static java.util.Objects.requireNonNull;

/**
 * Thrown when a store is unavailable for a time. The caller can retry with the same plant later.
 * Whether the plant was stored is unknown; a retry is safe in both cases ({@link PlantStore}, rules
 * R2 and R7).
 *
 * <pre>{@code
 * AtomicBoolean away = new AtomicBoolean(true);
 * CreatePlant createPlant =
 *     plant -> {
 *       if (away.getAndSet(false)) {
 *         throw new PlantStoreUnavailableException("the database is away");
 *       }
 *       return plant.plant();
 *     };
 * NewPlant fern = new NewPlant(1, "fern", null);
 * try {
 *   createPlant.create(fern);
 * } catch (PlantStoreUnavailableException unavailable) {
 *   createPlant.create(fern); // new Plant("fern", null)
 * }
 * }</pre>
 */
public final class PlantStoreUnavailableException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param message the reason, for the operator of the store; without secrets and without the text
   *     of a plant
   * @throws NullPointerException if the message is null
   */
  public PlantStoreUnavailableException(String message) {
    super(requireNonNull(message, "message"));
  }
}
