package org.plantstore.adapter.persistence.citus;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.batch.BatchFailure;
import org.plantstore.adapter.persistence.batch.BatchFailure.Retry;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * Circuit breaker of a lane. The breaker opens if no batch was written for two fifths of the
 * deadline since a first attempt: after the lock time-out (one fifth), before the statement
 * time-out (four fifths). While the breaker is open, plants fail fast, except one trial request a
 * second, which may take 1 s. A batch that is written closes it. Safe for use by many threads.
 *
 * <p>A library's breaker counts calls that have failed. With a silent node it would open only when
 * the first calls have reached their deadline.
 */
final class CircuitBreaker {

  private static final Duration TRIAL = Duration.ofSeconds(1);

  private final String node;
  private final Duration timeout;

  /** The nanoTime of the first attempt since a batch was written, or null if there is none. */
  private @Nullable Long attemptingSince;

  private @Nullable String lastReason;
  private long nextTrial = System.nanoTime();

  /** Creates a closed breaker. The node's name is for messages. */
  CircuitBreaker(String node, Duration timeout) {
    this.node = node;
    this.timeout = timeout;
  }

  /** Returns a view of the table that reports each success and failure to this breaker. */
  GroupCommit.Table watch(GroupCommit.Table table) {
    return plants -> {
      begin();
      try {
        Map<Long, NewPlant> stored = table.putIfAbsent(plants);
        reset();
        return stored;
      } catch (BatchFailure e) {
        throw fail(e);
      }
    };
  }

  private synchronized void begin() {
    if (attemptingSince == null) {
      attemptingSince = System.nanoTime();
    }
  }

  private synchronized void reset() {
    attemptingSince = null;
    lastReason = null;
  }

  /** Returns the failure with the node's name, and without a retry if the breaker is open. */
  private synchronized BatchFailure fail(BatchFailure failure) {
    boolean isOfNode = !failure.pause().isZero();
    boolean isOpen = isOpen();
    if (!isOfNode && !isOpen) {
      // A lock time-out comes before the breaker opens, so the node answers. A failure after that,
      // such as a statement time-out, may be of a silent node.
      reset();
    }
    if (!failure.isTransient()) {
      return failure;
    }
    lastReason = failure.getMessage() + "; the plant belongs to " + node;
    Retry retry = isOfNode && isOpen ? Retry.NEVER : failure.retry();
    return new BatchFailure(retry, failure.pause(), true, lastReason);
  }

  private boolean isOpen() {
    return attemptingSince != null
        && System.nanoTime() - attemptingSince > timeout.multipliedBy(2).dividedBy(5).toNanos();
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
    return new PlantStoreUnavailableException(
        lastReason == null ? node + " has not answered in time" : lastReason);
  }
}
