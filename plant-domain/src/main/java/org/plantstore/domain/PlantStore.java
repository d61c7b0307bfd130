package org.plantstore.domain;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * Stores plants: the port that a database adapter implements.
 *
 * <p>Every store follows these rules. {@code org.plantstore.domain.contract.PlantStoreContract}, in
 * the test-jar of this module, tests them.
 *
 * <ul>
 *   <li><b>R1</b> A free id: the plant is stored, and an equal one is returned.
 *   <li><b>R2</b> A taken id: nothing changes, and the stored plant is returned.
 *   <li><b>R3</b> Of any number of concurrent calls for one id, also through several store
 *       instances on one database, exactly one wins, and every call returns the winner.
 *   <li><b>R4</b> A returned plant survives a crash of the process and of the database server.
 *   <li><b>R5</b> Text is kept exactly: all Unicode that {@link Plant} allows, without trimming or
 *       normalisation. An absent tag and an empty tag differ.
 *   <li><b>R6</b> Every {@code long} is an id.
 *   <li><b>R7</b> A failure is an exception whose type shows whether trying again can help: {@link
 *       PlantStoreUnavailableException} if it can, {@link InvalidPlantException} if the store can
 *       never accept the plant that it was given, such as one too large for its engine, and any
 *       other unchecked exception if the store is at fault, for example because its table lacks a
 *       column or the row that has the id is not a valid plant. Trying again with the same plant is
 *       always safe. Every call ends, also while the database cannot be reached or is silent, and
 *       calls succeed again when it is back. An interrupt may end a call by such an exception, and
 *       the thread remains interrupted. No exception of the store's technology leaves the store,
 *       not even as a cause or suppressed.
 *   <li><b>R8</b> A store is safe for use by many threads. A cancelled stage has no effect on other
 *       calls.
 *   <li><b>R9</b> Null is refused with {@link NullPointerException}.
 * </ul>
 *
 * <p>A store may rely on the text rules of {@link Plant}: U+0000 and unpaired surrogates never
 * reach it. A store that reads an invalid row may let the {@link InvalidPlantException} of {@link
 * NewPlant}'s constructor pass: it refuses no plant, so it counts as a fault of the store.
 *
 * <p>This example follows all rules except R4: its plants are lost when the process ends:
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
   * Stores the plant unless its id is taken, and returns the plant that then has the id. The call
   * blocks until that plant is durable (R4). An unchecked exception other than those below is a
   * fault of the store, which trying again does not cure (R7).
   *
   * @param plant the plant to store
   * @return the plant that has the id {@code plant.id()}: one that is equal to {@code plant} if it
   *     was stored by this call or an earlier one, else the plant that took the id before (R1, R2)
   * @throws PlantStoreUnavailableException if the store is unavailable for a time; whether the
   *     plant was stored is unknown, and trying again is safe (R7)
   * @throws InvalidPlantException if {@code plant} breaks a rule of the store that is stricter than
   *     those of {@link Plant}, such as a limit of its size; the exception {@linkplain
   *     InvalidPlantException#refuses refuses} {@code plant}, and the caller has to change it (R7)
   * @throws NullPointerException if {@code plant} is null (R9)
   */
  NewPlant putIfAbsent(NewPlant plant);

  /**
   * Stores the plant as {@link #putIfAbsent(NewPlant)} does, without blocking the caller. The
   * default runs the blocking form on the executor. A store that holds no thread while it waits
   * overrides this method, and may ignore the executor.
   *
   * <p>The stage completes on a thread of the executor or of the store. Dependents may run on that
   * thread. A dependent must not block or take long, because the thread also completes other
   * plants. Slow work runs with {@code thenApplyAsync} on another executor.
   *
   * @param plant the plant to store
   * @param executor runs the call if the store blocks
   * @return a stage that completes with the plant that has the id, or fails with the exception of
   *     the blocking form, not wrapped (R7), or with that of an executor that rejects the call
   * @throws NullPointerException if {@code plant} or {@code executor} is null (R9); all other
   *     failures are reported by the stage
   */
  default CompletionStage<NewPlant> putIfAbsentAsync(NewPlant plant, Executor executor) {
    requireNonNull(plant, "plant");
    return AsynchronousCall.start(() -> putIfAbsent(plant), executor);
  }

  /**
   * Returns whether {@link #putIfAbsentAsync} never blocks its caller, not even while the database
   * is silent, so that it may be called on a thread that serves others, such as an event loop. A
   * service calls {@link #putIfAbsent} of any other store, on a thread of its own.
   *
   * @return false by default
   */
  default boolean isNonBlocking() {
    return false;
  }
}
