package org.plantstore.adapter.persistence.batch;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.plantstore.domain.NewPlant;

/** A table in memory that holds up its batches until it is released, and fails when told to. */
final class TestTable implements GroupCommit.Table {

  /** What happens to a batch. */
  interface Fault {

    void happen(Set<Long> ids) throws BatchFailure;
  }

  static final Fault NONE = ids -> {};

  private final Map<Long, NewPlant> rows = new ConcurrentHashMap<>();
  private final List<List<Long>> batches = new CopyOnWriteArrayList<>();
  private final CountDownLatch released = new CountDownLatch(1);

  /** Happens to each batch before it is stored. */
  volatile Fault before = NONE;

  @Override
  public Map<Long, NewPlant> putIfAbsent(SortedMap<Long, NewPlant> plants) throws BatchFailure {
    batches.add(List.copyOf(plants.keySet()));
    awaitUninterruptibly(released);
    before.happen(plants.keySet());
    Map<Long, NewPlant> stored = new HashMap<>();
    plants.forEach((id, plant) -> stored.put(id, rows.computeIfAbsent(id, free -> plant)));
    return stored;
  }

  static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError("nobody interrupts a writer", e);
    }
  }

  /** Lets all batches pass, also later ones. */
  void release() {
    released.countDown();
  }

  /** Waits until this number of batches has come, whether they were held up or not. */
  void awaitBatches(int number) {
    while (batches.size() < number) {
      assertFalse(Thread.interrupted(), "waited in vain for a batch; there were " + this);
      LockSupport.parkNanos(1_000_000);
    }
  }

  /** Returns the ids of each batch, in the order of the batches. */
  List<List<Long>> batches() {
    return batches;
  }

  List<Long> lastBatch() {
    return batches.get(batches.size() - 1);
  }

  @Override
  public String toString() {
    return "batches of " + batches;
  }
}
