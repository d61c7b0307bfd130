package org.plantstore.domain;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * Stores plants. This interface is the port that a database adapter implements.
 *
 * <p>Every store must follow the rules R1 to R9.
 *
 * <ul>
 *   <li><b>R1.</b> If the id is free, the plant is stored, and an equal plant is returned.
 *   <li><b>R2.</b> If the id is taken, nothing changes, and the stored plant is returned.
 *   <li><b>R3.</b> If several calls use the same id concurrently, even through several store
 *       instances on the same database, exactly one call wins, and every call returns the winning
 *       plant.
 *   <li><b>R4.</b> A plant that has been returned survives crashes of the process and of the
 *       database server.
 *   <li><b>R5.</b> Text is stored exactly as given, without trimming or normalization. The store
 *       supports every Unicode text that {@link Plant} allows. An absent tag is not the same as an
 *       empty tag.
 *   <li><b>R6.</b> Every {@code long} is a valid id.
 *   <li><b>R7.</b> The type of an exception indicates whether a retry can help. The store throws
 *       {@link PlantStoreUnavailableException} if a retry can help. The store throws {@link
 *       InvalidPlantException} if it can never accept the given plant, for example because the
 *       plant is too large for the database engine. The store throws another unchecked exception if
 *       the store itself is at fault, for example because its table lacks a column or because the
 *       row with the id is not a valid plant.
 *       <p>Retrying with the same plant is always safe. Every call ends, even if the database is
 *       unreachable or does not respond. Once the database is available again, calls succeed. If
 *       the calling thread is interrupted, the call may fail with {@link
 *       PlantStoreUnavailableException}, and the thread remains interrupted. An exception that is
 *       specific to the store's technology, such as {@code SQLException}, never leaves the store,
 *       not even as a cause or as a suppressed exception.
 *   <li><b>R8.</b> A store is safe for use by multiple threads. Canceling a stage does not affect
 *       other calls.
 *   <li><b>R9.</b> A null argument is refused with {@link NullPointerException}.
 * </ul>
 *
 * <p>The test-jar of this module contains {@code
 * org.plantstore.domain.contract.PlantStoreContract}, which tests a store against these rules.
 *
 * <p>A store never receives U+0000 or an unpaired surrogate, because {@link NewPlant} refuses them.
 * If a store reads an invalid row, the constructor of {@link NewPlant} throws an {@link
 * InvalidPlantException}. The store may let that exception propagate. The exception counts as a
 * fault of the store, because it does not {@linkplain InvalidPlantException#refuses refuse} the
 * given plant.
 *
 * <p>The following example follows every rule except R4, because its plants are lost when the
 * process ends:
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
   * <p>Any unchecked exception other than those listed below indicates a fault of the store, which
   * a retry does not fix (R7).
   *
   * @param plant the plant to store
   * @return a plant that is equal to {@code plant} if this call or an earlier call stored it;
   *     otherwise, the plant that took the id first (R1, R2)
   * @throws PlantStoreUnavailableException if the store is temporarily unavailable; the plant may
   *     or may not have been stored, and it is safe to retry with the same plant (R7)
   * @throws InvalidPlantException if {@code plant} violates a rule of the store that is stricter
   *     than the rules of {@link Plant}, such as a size limit; the exception {@linkplain
   *     InvalidPlantException#refuses refuses} {@code plant}, which the caller must change (R7)
   * @throws NullPointerException if {@code plant} is null (R9)
   */
  NewPlant putIfAbsent(NewPlant plant);

  /**
   * Stores the plant unless its id is taken, without blocking the caller. The default
   * implementation runs {@link #putIfAbsent(NewPlant)} on the executor. A store that does not
   * occupy a thread while it waits overrides this method, and may ignore the executor.
   *
   * <p>The stage completes on a thread of the executor or of the store, and its dependents may run
   * on that thread. A dependent must not block or run for long, because the same thread also
   * completes calls for other plants. Use {@code thenApplyAsync} to run slow work on another
   * executor.
   *
   * @param plant the plant to store
   * @param executor the executor that runs the call if the store blocks
   * @return a stage that completes with the plant that the store now holds under the id, or fails
   *     with the exception that {@link #putIfAbsent(NewPlant)} would throw, not wrapped (R7); if
   *     the executor rejects the call, the stage fails with the executor's exception
   * @throws NullPointerException if {@code plant} or {@code executor} is null (R9); the stage
   *     reports every other failure
   */
  default CompletionStage<NewPlant> putIfAbsentAsync(NewPlant plant, Executor executor) {
    requireNonNull(plant, "plant");
    return AsynchronousCall.start(() -> putIfAbsent(plant), executor);
  }

  /**
   * Returns whether {@link #putIfAbsentAsync} never blocks its caller, not even while the database
   * does not respond. If this method returns true, a service may call {@link #putIfAbsentAsync} on
   * an event loop or on another thread that serves many callers. Otherwise, the service must call
   * {@link #putIfAbsent} on a thread that may block.
   *
   * @return true if {@link #putIfAbsentAsync} never blocks its caller; the default implementation
   *     returns false
   */
  default boolean isNonBlocking() {
    return false;
  }
}
