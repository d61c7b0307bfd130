package org.plantstore.domain;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * Creates plants: the port that callers use.
 *
 * <p>Creating is idempotent: a call with the same id and equal content returns the result of the
 * first call, so a call that failed can be repeated. Implementations are safe for use by many
 * threads.
 *
 * <p>{@code org.plantstore.application.PlantCreation} creates plants in a {@link PlantStore}. In a
 * test, a method reference is enough:
 *
 * <pre>{@code
 * CreatePlant createPlant = NewPlant::plant;
 * createPlant.create(new NewPlant(1, "fern", null)); // new Plant("fern", null)
 * }</pre>
 */
@FunctionalInterface
public interface CreatePlant {

  /**
   * Creates a plant, and returns it once it is stored durably. The call blocks until then; {@link
   * #createAsync} does not. An unchecked exception other than those below is a fault of the
   * implementation: a retry is safe, but not expected to help.
   *
   * @param plant the plant to create
   * @return the plant that is stored under the id, equal to {@code plant.plant()}
   * @throws PlantIdTakenException if another plant has the id; that plant does not change
   * @throws PlantStoreUnavailableException if the store is unavailable; a retry is safe
   * @throws InvalidPlantException if {@code plant} breaks a rule of the store that is stricter than
   *     those of {@link NewPlant}, such as a limit of its size
   * @throws NullPointerException if {@code plant} is null
   */
  Plant create(NewPlant plant);

  /**
   * Creates a plant as {@link #create(NewPlant)} does, without blocking the caller. The default
   * runs the blocking form on the executor. Dependents of the stage must not block, because their
   * thread may also complete other plants.
   *
   * @param plant the plant to create
   * @param executor runs the call if the implementation blocks
   * @return a stage that completes with the plant that is stored under the id, or fails with the
   *     exception that the blocking form throws, or that of an executor that rejects the call
   * @throws NullPointerException if {@code plant} or {@code executor} is null
   */
  default CompletionStage<Plant> createAsync(NewPlant plant, Executor executor) {
    requireNonNull(plant, "plant");
    return AsynchronousCall.start(() -> create(plant), executor);
  }
}
