package org.plantstore.adapter.persistence.batch;

/**
 * Says that a plant was not stored, or that it is unknown whether it was, and what would help it.
 */
public final class BatchFailure extends Exception {

  private static final long serialVersionUID = 1L;

  /** What would help. */
  public enum Remedy {
    /** The same again: what stood in the way has passed, or will in a moment. */
    REPEAT,
    /** Each plant of the batch by itself: one of them may be the reason. */
    SEPARATE,
    /** Nothing that this store could do now. */
    NONE
  }

  private final Remedy remedy;
  private final RuntimeException reason;

  /**
   * Makes the failure.
   *
   * @param remedy what would help
   * @param reason what the store's callers are told if nothing helps (R7)
   */
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
