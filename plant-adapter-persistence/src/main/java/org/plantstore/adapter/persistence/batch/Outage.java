package org.plantstore.adapter.persistence.batch;

import java.time.Duration;
import java.util.Collection;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.batch.BatchFailure.Remedy;
import org.plantstore.adapter.persistence.batch.BatchQueue.Batch;

/**
 * Detects that a lane cannot write: it tried, and nothing was written for two seconds. Then plants
 * are refused at once, except one every half second, which finds out when it is back. Safe for use
 * by many threads.
 */
final class Outage {

  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final Duration TRIAL_PERIOD = Duration.ofMillis(500);

  /** When a batch was written last, as a value of {@link System#nanoTime()}. */
  private long succeeded = System.nanoTime();

  /** The first batch since then that failed, and why the last one did. */
  private @Nullable Batch failed;

  private @Nullable BatchFailure failure;

  private boolean isOn;

  /** When a plant was admitted last while this was on, likewise. */
  private long tried = System.nanoTime();

  private long servedPlants;
  private long outagePlants;

  /** Notes that a batch was written: there is no outage, or no longer. */
  synchronized void end() {
    succeeded = System.nanoTime();
    failed = null;
    failure = null;
    isOn = false;
  }

  /** Notes that a batch was not written. */
  synchronized void note(Batch batch, BatchFailure result) {
    if (result.remedy() == Remedy.RECOVERY && batch.began() - succeeded > 0) {
      failed = failed == null ? batch : failed;
      failure = result;
    }
  }

  /** Returns whether an outage begins, by the batches that are being written. */
  synchronized boolean begins(Collection<Batch> running) {
    if (isOn || !(isOverdue(failed) || running.stream().anyMatch(this::isOverdue))) {
      return false;
    }
    isOn = true;
    return true;
  }

  private boolean isOverdue(@Nullable Batch batch) {
    return batch != null
        && batch.began() - succeeded > 0
        && System.nanoTime() - batch.began() > PATIENCE.toNanos();
  }

  /**
   * Returns whether a plant may be written now, and counts it. Where the table is whole, each may:
   * it waits until its deadline.
   */
  synchronized boolean admits(WaitingPlant plant) {
    if (!isOn || !plant.shard().isApart()) {
      servedPlants++;
      return true;
    }
    outagePlants++;
    long now = System.nanoTime();
    if (now - tried < TRIAL_PERIOD.toNanos()) {
      return false;
    }
    tried = now;
    return true;
  }

  /** Fails a plant because of the outage. */
  synchronized void refuse(WaitingPlant plant) {
    plant.fail(new BatchFailure(Remedy.NONE, WaitingPlant.expired(failure).reason()));
  }

  synchronized long servedPlants() {
    return servedPlants;
  }

  synchronized long outagePlants() {
    return outagePlants;
  }
}
