package org.plantstore.domain;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * Stores plants. This interface is the port that database adapters implement.
 *
 * <p>Every store must follow rules R1 to R9.
 *
 * <ul>
 *   <li><b>R1.</b> If the id is free, the plant is stored, and an equal plant is returned.
 *   <li><b>R2.</b> If the id is taken, nothing changes, and the stored plant is returned.
 *   <li><b>R3.</b> If several calls use the same id concurrently, even through different store
 *       instances that share a database, exactly one call wins, and every call returns the winning
 *       plant.
 *   <li><b>R4.</b> Once a call has returned a plant, that plant survives a crash of the process or
 *       the database server.
 *   <li><b>R5.</b> Text is stored exactly as given, without trimming or normalization. The store
 *       accepts all text that {@link Plant} allows. An absent tag is not the same as an empty tag.
 *   <li><b>R6.</b> Every {@code long} is a valid id.
 *   <li><b>R7.</b> The type of an exception indicates whether a retry can help. If a retry can
 *       help, the store throws {@link PlantStoreUnavailableException}. If the store can never
 *       accept the given plant, for example because the plant is too large for the database engine,
 *       the store throws {@link InvalidPlantException}. If there is an internal error in the store,
 *       such as a missing column, the store throws an unchecked exception of another type, such as
 *       {@link IllegalStateException}.
 *       <p>Retrying with the same plant is always safe. Every call completes, even if the database
 *       is unreachable or does not respond. Once the database is available again, calls succeed
 *       again. If the calling thread is interrupted, the call may throw {@link
 *       PlantStoreUnavailableException}, and the thread's interrupt status remains set. The store
 *       never exposes an exception that is specific to its technology, such as {@code
 *       SQLException}, even as a cause or a suppressed exception.
 *   <li><b>R8.</b> A store is safe for use by multiple threads. Canceling the {@code
 *       CompletionStage} of one call does not affect other calls.
 *   <li><b>R9.</b> If an argument is null, the method throws {@link NullPointerException}.
 * </ul>
 *
 * <p>This module's test JAR contains {@code org.plantstore.domain.contract.PlantStoreContract},
 * which checks a store against these rules.
 *
 * <p>A store never receives U+0000 or an unpaired surrogate, because {@link NewPlant} rejects them.
 * If a store reads an invalid row, the constructor of {@link NewPlant} throws an {@link
 * InvalidPlantException}. The store may let that exception propagate. Callers treat such an
 * exception as an internal error in the store, because {@link InvalidPlantException#refuses}
 * returns false for the given plant.
 *
 * <p>The store below obeys every rule except R4: its plants are lost when the process ends.
 *
 * <pre>{@code
 * Map<Long, NewPlant> plants = new ConcurrentHashMap<>();
 * PlantStore store =
 *     plant -> {
 *       NewPlant before = plants.putIfAbsent(plant.id(), plant);
 *       return before == null ? plant : before;
 *     };
 * store.putIfAbsent(new NewPlant(1, "fern", null)); // new NewPlant(1, "fern", null)
 * store.putIfAbsent(new NewPlant(1, "moss", null)); // new NewPlant(1, "fern", null)
 * }</pre>
 */
@FunctionalInterface
public interface PlantStore {

  /**
   * Stores the plant unless its id is taken, and returns the plant that the store now holds under
   * that id. This method blocks until the returned plant is durable (R4).
   *
   * <p>Any unchecked exception other than those listed below indicates an internal error in the
   * store. Retrying does not fix such an error (R7).
   *
   * @param plant the plant to store
   * @return the plant that the store now holds under the id. The returned plant equals {@code
   *     plant} unless a different plant took the id first (R1, R2).
   * @throws PlantStoreUnavailableException if the store is temporarily unavailable. The plant may
   *     or may not have been stored, and retrying with the same plant is safe (R7).
   * @throws InvalidPlantException if {@code plant} violates one of the store's own rules, such as a
   *     size limit (R7). The exception's {@link InvalidPlantException#refuses} method returns true
   *     for {@code plant}.
   * @throws NullPointerException if {@code plant} is null (R9)
   */
  NewPlant putIfAbsent(NewPlant plant);

  /**
   * Stores the plant without blocking the caller. If the plant's id is taken, nothing changes. The
   * default implementation runs {@link #putIfAbsent(NewPlant)} on the executor. A store that can
   * wait without occupying a thread should override this method, and may ignore the executor.
   *
   * <p>The returned {@link CompletionStage} completes on a thread that belongs to the executor or
   * the store, and dependent actions may run on that thread. A dependent action must not block or
   * run for long, because the same thread also completes calls for other plants. Use {@code
   * thenApplyAsync} to run slow actions on another executor.
   *
   * @param plant the plant to store
   * @param executor the executor that runs the call if the store blocks
   * @return a stage that completes with the plant that the store now holds under the id, or fails
   *     with the unwrapped exception that {@link #putIfAbsent(NewPlant)} would throw (R7). If the
   *     executor rejects the call, the stage fails with the executor's exception.
   * @throws NullPointerException if {@code plant} or {@code executor} is null (R9). Every other
   *     failure is reported through the stage.
   */
  default CompletionStage<NewPlant> putIfAbsentAsync(NewPlant plant, Executor executor) {
    requireNonNull(plant, "plant");
    return AsynchronousCall.start(() -> putIfAbsent(plant), executor);
  }

  /**
   * Returns whether {@link #putIfAbsentAsync} always returns without blocking its caller, even when
   * the database is not responding. If this method returns true, a service may call {@link
   * #putIfAbsentAsync} on an event loop or on another thread that serves many callers. If this
   * method returns false, the service must call {@link #putIfAbsent} on a thread that is allowed to
   * block.
   *
   * @return true if {@link #putIfAbsentAsync} never blocks its caller. The default implementation
   *     returns false.
   */
  default boolean isNonBlocking() {
    return false;
  }
}
