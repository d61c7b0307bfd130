package org.plantstore.domain;

/**
 * Keeps plants: the port that a database adapter implements.
 *
 * <p>Every store keeps these rules. They are executable as {@code
 * org.plantstore.domain.contract.PlantStoreContract} in this module's test-jar.
 *
 * <ul>
 *   <li><b>R1</b> A free id: the plant is stored, and an equal one is returned.
 *   <li><b>R2</b> A taken id: nothing changes, and the stored plant is returned.
 *   <li><b>R3</b> Of any number of concurrent calls for one id, also through several store
 *       instances on one database, exactly one wins, and every call returns the winner.
 *   <li><b>R4</b> What was returned survives a crash of the process and of the database server.
 *   <li><b>R5</b> Text is kept exactly: all Unicode that {@link Plant} allows, without trimming or
 *       normalisation. An absent tag and an empty tag differ.
 *   <li><b>R6</b> Every {@code long} is an id.
 *   <li><b>R7</b> A failure is an exception whose type shows whether trying again can help: {@link
 *       PlantStoreUnavailableException} if it can, any other unchecked exception if it cannot.
 *       Trying again with the same plant is always safe. Every call ends, also while the database
 *       cannot be reached. No exception of the store's technology leaves the store, not even as a
 *       cause or suppressed.
 *   <li><b>R8</b> A store is safe for use by many threads.
 *   <li><b>R9</b> Null is refused with {@link NullPointerException}.
 * </ul>
 *
 * <p>A store may rely on the text rules of {@link Plant}: U+0000 and unpaired surrogates never
 * reach it.
 *
 * <p>This one keeps all rules but R4, because it forgets its plants when the process ends:
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
   * Keeps the plant unless its id is taken, and answers what the store now holds under that id.
   * Blocks until that is durable (R4). Any other unchecked exception than those below says that
   * trying again cannot help (R7).
   *
   * @param plant the plant to keep
   * @return the plant that the store holds under {@code plant.id()}: {@code plant} itself or an
   *     equal one if it was stored now or before, another one if the id was taken by it (R1, R2)
   * @throws PlantStoreUnavailableException if the store cannot answer now but may later; the plant
   *     is stored or not, and trying again is safe (R7)
   * @throws NullPointerException if {@code plant} is null (R9)
   */
  NewPlant putIfAbsent(NewPlant plant);
}
