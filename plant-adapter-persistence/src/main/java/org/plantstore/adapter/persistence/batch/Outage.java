package org.plantstore.adapter.persistence.batch;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.batch.BatchFailure.Remedy;
import org.plantstore.adapter.persistence.batch.BatchQueue.Batch;

/**
 * Whether what a lane writes to is away: nothing was written for two seconds, although it was
 * tried. Then plants are refused at once, except one every half second, which finds out when it is
 * back. Guarded by the monitor of its queue.
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
  private long tried;

  /** Notes that a batch was written: there is no outage, or no longer. */
  void end() {
    succeeded = System.nanoTime();
    failed = null;
    failure = null;
    isOn = false;
  }

  /** Notes that a batch was not written. */
  void note(Batch batch, BatchFailure result) {
    if (result.remedy() == Remedy.RECOVERY && batch.began() - succeeded > 0) {
      failed = failed == null ? batch : failed;
      failure = result;
    }
  }

  /** Returns whether an outage begins, by the batch that has been running for the longest time. */
  boolean begins(@Nullable Batch running) {
    if (isOn || !(isOverdue(running) || isOverdue(failed))) {
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

  boolean isOn() {
    return isOn;
  }

  /** Returns whether a plant may be tried during the outage, and counts it as the try. */
  boolean admits() {
    long now = System.nanoTime();
    if (now - tried < TRIAL_PERIOD.toNanos()) {
      return false;
    }
    tried = now;
    return true;
  }

  /** Fails a plant because of the outage. */
  void refuse(WaitingPlant plant) {
    plant.fail(new BatchFailure(Remedy.NONE, WaitingPlant.expired(failure).reason()));
  }
}
