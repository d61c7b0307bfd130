package org.plantstore.adapter.persistence;

import java.util.Set;
import org.plantstore.adapter.persistence.batch.BatchFailure;
import org.plantstore.adapter.persistence.batch.BatchFailure.Remedy;
import org.plantstore.adapter.persistence.database.PostgresFailure;
import org.plantstore.domain.PlantStoreUnavailableException;

/** Translates failures of PostgreSQL into failures of batches. */
final class BatchFailures {

  /** Classes of SQLSTATE after which the same statement may succeed at once. */
  private static final Set<String> REPEATABLE_CLASSES = Set.of("08", "40", "57");

  /** A lock on an id or on the table was not released within lock_timeout. */
  private static final String LOCKED = "55P03";

  private BatchFailures() {}

  /** Returns the failure of a batch that no connection could be borrowed for. */
  static BatchFailure withoutConnection(RuntimeException wrapper) {
    return new BatchFailure(Remedy.NONE, reason(failureIn(wrapper)));
  }

  /** Returns the failure of a batch whose statements failed. */
  static BatchFailure of(RuntimeException wrapper) {
    PostgresFailure failure = failureIn(wrapper);
    return new BatchFailure(remedy(failure), reason(failure));
  }

  /**
   * Returns what may help the plants of the statement. A read-only server is worth another attempt,
   * because the pool drops the connection and opens one to the primary.
   */
  static Remedy remedy(PostgresFailure failure) {
    if (failure.hasState(PostgresFailure.READ_ONLY)
        || (REPEATABLE_CLASSES.stream().anyMatch(failure::hasState)
            && !failure.hasState(PostgresFailure.CANCELED))) {
      return Remedy.REPEAT;
    }
    return failure.hasState(LOCKED) || !failure.isTransient() ? Remedy.SEPARATE : Remedy.NONE;
  }

  /** Returns the exception that rule R7 of the store allows for the failure. */
  static RuntimeException reason(PostgresFailure failure) {
    return failure.isTransient()
        ? new PlantStoreUnavailableException(failure.describe())
        : new IllegalStateException("PostgreSQL refused a plant for good: " + failure.describe());
  }

  private static PostgresFailure failureIn(RuntimeException wrapper) {
    return PostgresFailure.in(wrapper)
        .orElseThrow(() ->
            new IllegalStateException("the store is used in a wrong way: " + wrapper.getMessage()));
  }
}
