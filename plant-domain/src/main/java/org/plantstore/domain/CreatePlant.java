package org.plantstore.domain;

/**
 * Creates plants: the port that a caller drives.
 *
 * <p>Creating is idempotent: the same id with equal content is answered like the first time, so
 * every failed or unanswered call may be repeated. Safe for use by many threads.
 *
 * <p>{@code org.plantstore.application.PlantCreation} creates plants in a {@link PlantStore}. A
 * test can do with less:
 *
 * <pre>{@code
 * CreatePlant createPlant = NewPlant::plant;
 * createPlant.create(new NewPlant(1, "fern", null)); // new Plant("fern", null)
 * }</pre>
 */
@FunctionalInterface
public interface CreatePlant {

  /**
   * Creates a plant and answers it once it is stored durably. Blocks until then; callers use
   * virtual threads where they have them. Any other unchecked exception than those below is a fault
   * of the implementation: trying again is safe, but not expected to help.
   *
   * @param plant the plant to create
   * @return the plant that is stored under the id, equal to {@code plant.plant()}
   * @throws PlantIdTakenException if a plant with other content has the id; it stays as it is
   * @throws PlantStoreUnavailableException if the store cannot answer now; trying again is safe
   * @throws NullPointerException if {@code plant} is null
   */
  Plant create(NewPlant plant);
}
