package org.plantstore.adapter.persistence.batch;

import java.time.Duration;

/** Thrown when it is unknown whether the plants of a batch are stored. */
public final class BatchFailure extends Exception {

  private static final long serialVersionUID = 1L;

  /** What may store the plants after all. */
  public enum Remedy {
    /** To repeat the batch: the failure was transient. */
    REPEAT(5),
    /** To write each plant of the batch on its own: one of them may be the cause. */
    SEPARATE(5),
    /**
     * To write each plant on its own after a longer pause: a server behind the one that answers is
     * away, and each attempt costs those that are there.
     */
    RECOVERY(100),
    /** Nothing that the store can do now. */
    NONE(0);

    private final Duration pause;

    Remedy(long pauseMillis) {
      this.pause = Duration.ofMillis(pauseMillis);
    }

    /** Returns how long to wait before it. */
    Duration pause() {
      return pause;
    }
  }

  private final Remedy remedy;
  private final RuntimeException reason;

  /** Creates a failure; its reason is thrown to the store's callers if nothing helps (R7). */
  public BatchFailure(Remedy remedy, RuntimeException reason) {
    super(reason);
    this.remedy = remedy;
    this.reason = reason;
  }

  public Remedy remedy() {
    return remedy;
  }

  public RuntimeException reason() {
    return reason;
  }
}
