package org.plantstore.adapter.persistence.batch;

import java.time.Duration;
import org.plantstore.domain.PlantStoreUnavailableException;

/** Thrown if a batch failed; its plants may be stored nevertheless. */
public final class BatchFailure extends Exception {

  private static final long serialVersionUID = 1L;

  /** How the plants are retried. */
  public enum Retry {
    /** Together: the failure was transient. */
    BATCH,
    /** Each on its own: one of the plants may be the cause. */
    EACH,
    /** Not at all. */
    NEVER
  }

  private final Retry retry;
  private final Duration pause;
  private final RuntimeException reason;

  /**
   * Creates a failure.
   *
   * @param pause the time before a retry; zero unless what has failed needs time to recover
   * @param reason is thrown to the store's callers if no retry succeeds (R7)
   */
  public BatchFailure(Retry retry, Duration pause, RuntimeException reason) {
    super(reason);
    this.retry = retry;
    this.pause = pause;
    this.reason = reason;
  }

  public Retry retry() {
    return retry;
  }

  public Duration pause() {
    return pause;
  }

  /** Returns whether what has failed, such as another server, needs time to recover. */
  public boolean needsRecovery() {
    return !pause.isZero();
  }

  public RuntimeException reason() {
    return reason;
  }

  /** Returns whether the same plants may be stored later. */
  public boolean isTransient() {
    return reason instanceof PlantStoreUnavailableException;
  }
}
