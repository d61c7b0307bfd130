package org.plantstore.adapter.persistence.batch;

import java.time.Duration;
import org.plantstore.domain.PlantStoreUnavailableException;

/** Thrown if a batch failed; its plants may be stored nevertheless. */
public final class BatchFailure extends Exception {

  private static final long serialVersionUID = 1L;

  /** How the plants are retried. */
  public enum Retry {
    /** Together, until the deadline: the failure was transient. */
    BATCH,
    /** Each on its own: one of the plants may be the cause. Once, unless that is transient. */
    EACH,
    /** Not at all. */
    NEVER
  }

  private final Retry retry;
  private final Duration pause;
  private final boolean isTransient;

  /**
   * Creates a failure.
   *
   * @param pause the time before a retry; zero unless another server needs time to recover
   * @param isTransient whether the same plants may be stored later
   * @param reason the message to the store's callers if no retry succeeds
   */
  public BatchFailure(Retry retry, Duration pause, boolean isTransient, String reason) {
    super(reason);
    this.retry = retry;
    this.pause = pause;
    this.isTransient = isTransient;
  }

  public Retry retry() {
    return retry;
  }

  public Duration pause() {
    return pause;
  }

  public boolean isTransient() {
    return isTransient;
  }

  /** Returns an exception for one caller (R7), who may add suppressed exceptions to it. */
  public RuntimeException reason() {
    String message = String.valueOf(getMessage());
    RuntimeException reason =
        isTransient
            ? new PlantStoreUnavailableException(message)
            : new IllegalStateException(message);
    reason.setStackTrace(getStackTrace());
    return reason;
  }
}
