package org.plantstore.adapter.persistence.batch;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import org.plantstore.domain.NewPlant;

/** Plants on their way into the database. Safe for use by many threads. */
public interface PlantQueue extends AutoCloseable {

  /** Counts plants taken into batches, the nanoseconds for which these waited, refused plants. */
  record Counts(LongAdder taken, LongAdder nanosWaited, LongAdder refused) {}

  /**
   * Stores the plant if its id is free. Dependents of the future must not block. A plant whose
   * future is cancelled is not written, unless its batch is in flight.
   *
   * @return the plant that has the id. Fails with PlantStoreUnavailableException at the deadline or
   *     after {@link #close()}, and with IllegalStateException if the database refuses the plant
   */
  CompletableFuture<NewPlant> putIfAbsent(NewPlant plant);

  /** Returns the number of plants waiting for a batch. */
  int waitingPlants();

  /** Refuses further plants, and blocks until every accepted plant is completed. */
  @Override
  void close();
}
