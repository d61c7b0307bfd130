package org.plantstore.domain;

import static java.util.Objects.requireNonNull;

/**
 * Thrown when a store is temporarily unavailable. The caller can retry later with the same plant.
 * The plant may or may not have been stored. A retry is safe in either case, according to rules R2
 * and R7 of {@link PlantStore}.
 *
 * <pre>{@code
 * AtomicBoolean down = new AtomicBoolean(true);
 * CreatePlant createPlant =
 *     plant -> {
 *       if (down.getAndSet(false)) {
 *         throw new PlantStoreUnavailableException("the database is down");
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
   * Creates an exception.
   *
   * @param message the reason, intended for the operator of the store; it must contain neither
   *     secrets nor the text of a plant
   * @throws NullPointerException if the message is null
   */
  public PlantStoreUnavailableException(String message) {
    super(requireNonNull(message, "message"));
  }
}
