package org.plantstore.adapter.persistence;

import java.util.concurrent.CompletableFuture;
import org.plantstore.domain.NewPlant;

/** Accepts plants from concurrent callers, and stores them in batches. */
interface PlantQueue {

  /**
   * Stores the plant if its id is free. Callbacks registered on the returned future must not block.
   * If the future is canceled before a writer takes the plant, the plant is not stored.
   *
   * @return a future that completes with the plant that the table now holds under the id. The
   *     future fails with PlantStoreUnavailableException if another attempt may succeed, and
   *     otherwise with IllegalStateException.
   */
  CompletableFuture<NewPlant> putIfAbsent(NewPlant plant);

  /** Fails calls that are past their deadline, and starts a writer if a batch is due. */
  void sweep();

  /** Returns the number of plants waiting for a batch. */
  int waitingPlants();

  /** Returns the number of plants whose callers are waiting. */
  int plants();
}
