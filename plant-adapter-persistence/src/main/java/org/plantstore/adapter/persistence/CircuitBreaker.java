package org.plantstore.adapter.persistence;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.batch.BatchFailure;
import org.plantstore.adapter.persistence.batch.BatchFailure.Retry;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * Circuit breaker of a lane. It opens when the lane has attempted batches, but written none for two
 * fifths of the deadline: longer than the time-out of a lock, shorter than that of a statement.
 * While it is open, plants fail fast, except one trial request a second, which may take 1 s. A
 * batch that is written closes it. Safe for use by many threads.
 */
final class CircuitBreaker {

  private static final Duration TRIAL = Duration.ofSeconds(1);

  private final String node;
  private final Duration timeout;
  private final PlantStoreUnavailableException silence;

  /** When the first batch since the last success began, as nanoTime, or null if none has. */
  private @Nullable Long failingSince;

  private PlantStoreUnavailableException lastFailure;
  private long nextTrial = System.nanoTime();

  /** Creates a closed breaker. The node's name is for messages. */
  CircuitBreaker(String node, Duration timeout) {
    this.node = node;
    this.timeout = timeout;
    this.silence = new PlantStoreUnavailableException(node + " has not answered in time");
    this.lastFailure = silence;
  }

  /** Returns the table, with each success and failure reported to this breaker. */
  GroupCommit.Table watch(GroupCommit.Table table) {
    return plants -> {
      begin();
      try {
        Map<Long, NewPlant> stored = table.putIfAbsent(plants);
        succeed();
        return stored;
      } catch (BatchFailure e) {
        throw fail(e);
      } catch (RuntimeException e) {
        succeed(); // a bug, not a failure of the node
        throw e;
      }
    };
  }

  private synchronized void begin() {
    if (failingSince == null) {
      failingSince = System.nanoTime();
    }
  }

  private synchronized void succeed() {
    failingSince = null;
    lastFailure = silence;
  }

  /** Returns the failure with the node's name, and without a retry if the breaker is open. */
  private synchronized BatchFailure fail(BatchFailure failure) {
    boolean isOfNode = failure.retry() == Retry.EACH_LATER;
    if (!isOfNode && !isOpen()) {
      succeed(); // such as a locked id, which does not keep other plants from being written
    }
    if (!failure.isTransient()) {
      return failure;
    }
    lastFailure =
        new PlantStoreUnavailableException(
            failure.reason().getMessage() + "; the plant belongs to " + node);
    return new BatchFailure(isOfNode && isOpen() ? Retry.NEVER : failure.retry(), lastFailure);
  }

  private boolean isOpen() {
    return failingSince != null
        && System.nanoTime() - failingSince > timeout.multipliedBy(2).dividedBy(5).toNanos();
  }

  /** Returns how long callers may wait, as of now. */
  synchronized Duration timeout() {
    return isOpen() ? TRIAL : timeout;
  }

  /** Returns why a new plant is refused, or null if it is admitted. */
  synchronized @Nullable PlantStoreUnavailableException refusal() {
    if (!isOpen()) {
      return null;
    }
    long now = System.nanoTime();
    if (now - nextTrial >= 0) {
      nextTrial = now + TRIAL.toNanos();
      return null;
    }
    return lastFailure;
  }
}
