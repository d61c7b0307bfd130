package org.plantstore.adapter.persistence.batch;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.batch.BatchFailure.Remedy;
import org.plantstore.adapter.persistence.batch.BatchQueue.Batch;

/**
 * Circuit breaker of a lane. It opens when the lane has tried to write, and written nothing for two
 * fifths of the time that a create may take. While it is open, plants fail fast, except one trial
 * request at a time, which may take 1 s. Safe for use by many threads.
 */
final class Outage {

  private static final Duration TRIAL_PERIOD = Duration.ofMillis(500);
  private static final Duration TRIAL_LIMIT = Duration.ofSeconds(1);

  private final Duration patience;

  /** When a batch was written last, as a value of {@link System#nanoTime()}. */
  private long succeeded = System.nanoTime();

  /** The first batch that failed since then, or null. */
  private @Nullable Batch failed;

  /** The last failure since then, or null. */
  private @Nullable BatchFailure failure;

  private boolean isOn;

  /** The plant that was admitted last since this was on, or null. */
  private @Nullable WaitingPlant trial;

  /** When it was admitted, or refused because it took too long, likewise. */
  private long tried = System.nanoTime();

  private long refusedPlants;

  /**
   * Creates a detector for creates that may take this long. Two fifths of it are longer than a lock
   * is waited for, and shorter than a statement may take.
   */
  Outage(Duration timeout) {
    this.patience = timeout.multipliedBy(2).dividedBy(5);
  }

  /** Notes that a batch was written: there is no outage, or no longer. */
  synchronized void end() {
    succeeded = System.nanoTime();
    failed = null;
    failure = null;
    isOn = false;
    trial = null;
  }

  /** Notes that a batch was not written. */
  synchronized void note(Batch batch, BatchFailure result) {
    if (trial != null && batch.plants().contains(trial)) {
      trial = null;
    }
    if (result.remedy() == Remedy.RECOVERY && batch.began() - succeeded > 0) {
      failed = failed == null ? batch : failed;
      failure = result;
    }
  }

  /** Begins an outage if a batch has failed, or is being written, for too long; returns whether. */
  synchronized boolean beginIfOverdue(Collection<Batch> running) {
    if (isOn || !(isOverdue(failed) || running.stream().anyMatch(this::isOverdue))) {
      return false;
    }
    isOn = true;
    return true;
  }

  private boolean isOverdue(@Nullable Batch batch) {
    return batch != null
        && batch.began() - succeeded > 0
        && System.nanoTime() - batch.began() > patience.toNanos();
  }

  /**
   * Admits a plant if it may be written now, and returns whether. Where the table is whole, each
   * may: it waits until its deadline.
   */
  synchronized boolean tryAdmit(WaitingPlant plant) {
    if (!isOn || !plant.shard().isDistributed()) {
      return true;
    }
    long now = System.nanoTime();
    if (now - tried < TRIAL_PERIOD.toNanos() || isTrying()) {
      return false;
    }
    trial = plant;
    tried = now;
    return true;
  }

  private boolean isTrying() {
    return trial != null && !trial.isDone();
  }

  /** Fails a trial plant that has waited for 1 s. Its statement may go on. */
  synchronized void endOverdueTrial(List<Runnable> failures) {
    if (isTrying() && System.nanoTime() - tried > TRIAL_LIMIT.toNanos()) {
      WaitingPlant overdue = requireNonNull(trial);
      failures.add(() -> overdue.fail(refuse()));
      trial = null;
      tried = System.nanoTime();
    }
  }

  /** Counts a plant that is refused because of the outage, and returns why. */
  synchronized RuntimeException refuse() {
    refusedPlants++;
    return WaitingPlant.expired(failure);
  }

  synchronized long refusedPlants() {
    return refusedPlants;
  }
}
