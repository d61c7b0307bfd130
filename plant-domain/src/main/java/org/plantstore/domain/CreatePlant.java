package org.plantstore.domain;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * Creates plants. This interface is the port through which callers create plants.
 *
 * <p>Creation is idempotent: repeating a call with the same id, name, and tag returns an equal
 * plant. It is therefore safe to retry a failed call. Implementations must be safe for use by
 * multiple threads.
 *
 * <p>{@code org.plantstore.application.PlantCreation} implements this interface on top of a {@link
 * PlantStore}. In a test, a method reference can serve as the implementation:
 *
 * <pre>{@code
 * CreatePlant createPlant = NewPlant::plant;
 * createPlant.create(new NewPlant(1, "fern", null)); // new Plant("fern", null)
 * }</pre>
 */
@FunctionalInterface
public interface CreatePlant {

  /**
   * Creates a plant, and blocks until the plant is stored durably. Use {@link #createAsync} to
   * create a plant without blocking.
   *
   * <p>Any unchecked exception other than those listed below indicates an internal error. Retrying
   * after such an exception is safe but unlikely to succeed.
   *
   * @param plant the plant to create
   * @return the stored plant, which equals {@code plant.plant()}
   * @throws PlantIdTakenException if the id belongs to another plant, which remains unchanged
   * @throws PlantStoreUnavailableException if the store is temporarily unavailable. Retrying with
   *     the same plant is safe.
   * @throws InvalidPlantException if {@code plant} violates one of the store's own rules, such as a
   *     size limit
   * @throws NullPointerException if {@code plant} is null
   */
  Plant create(NewPlant plant);

  /**
   * Creates a plant without blocking the caller. The default implementation runs {@link
   * #create(NewPlant)} on the executor.
   *
   * <p>Actions that depend on the returned stage must not block, because the thread that runs them
   * may also complete calls for other plants.
   *
   * @param plant the plant to create
   * @param executor the executor that runs the call if the implementation blocks
   * @return a {@link CompletionStage} that completes with the stored plant, or fails with the
   *     exception that {@link #create(NewPlant)} would throw. If the executor rejects the call, the
   *     stage fails with the executor's exception.
   * @throws NullPointerException if {@code plant} or {@code executor} is null
   */
  default CompletionStage<Plant> createAsync(NewPlant plant, Executor executor) {
    requireNonNull(plant, "plant");
    return AsynchronousCall.start(() -> create(plant), executor);
  }
}
