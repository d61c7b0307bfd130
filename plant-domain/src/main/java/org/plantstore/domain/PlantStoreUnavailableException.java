package org.plantstore.domain;

import static java.util.Objects.requireNonNull;

/**
 * Says that the store cannot answer now, but may later: try again with the same plant. Whether the
 * plant was stored is unknown; trying again is safe either way ({@link PlantStore}, rules R2 and
 * R7). What it says never changes, so it may be passed from thread to thread.
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
   * Makes the exception.
   *
   * @param message what the store's operator should know, without secrets and without a plant's
   *     text
   * @throws NullPointerException if the message is null
   */
  public PlantStoreUnavailableException(String message) {
    super(requireNonNull(message, "message"));
  }
}
