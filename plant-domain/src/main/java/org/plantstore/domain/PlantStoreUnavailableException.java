package org.plantstore.domain;

import static java.util.Objects.requireNonNull;

/**
 * Thrown when a store is temporarily unavailable. The plant may or may not have been stored. In
 * either case, rules R2 and R7 of {@link PlantStore} ensure that the caller can safely retry later
 * with the same plant.
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
   * @param message the reason why the store is unavailable, intended for the store's operator. The
   *     message must not contain secrets or a plant's text.
   * @throws NullPointerException if the message is null
   */
  public PlantStoreUnavailableException(String message) {
    super(requireNonNull(message, "message"));
  }
}
