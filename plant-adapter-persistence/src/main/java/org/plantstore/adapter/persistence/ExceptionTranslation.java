package org.plantstore.adapter.persistence;

import io.micronaut.data.connection.jdbc.exceptions.CannotGetJdbcConnectionException;
import java.util.Set;
import org.plantstore.adapter.persistence.batch.BatchFailure;
import org.plantstore.adapter.persistence.batch.BatchFailure.Remedy;
import org.plantstore.adapter.persistence.database.PostgresFailure;
import org.plantstore.domain.PlantStoreUnavailableException;

/** Translates exceptions of the database into those of the batch and of the domain. */
final class ExceptionTranslation {

  /** Classes of SQLSTATE after which the same statement may succeed at once. */
  private static final Set<String> REPEATABLE_CLASSES = Set.of("08", "40", "57");

  /** A lock on an id or on the table was not released within lock_timeout. */
  private static final String LOCKED = "55P03";

  private ExceptionTranslation() {}

  /**
   * Returns the failure of a batch whose statements failed, or that got no connection.
   *
   * @throws RuntimeException the wrapper itself, if it wraps no failure of the database
   */
  static BatchFailure toBatchFailure(RuntimeException wrapper) {
    PostgresFailure failure = PostgresFailure.in(wrapper).orElseThrow(() -> wrapper);
    // Without a connection the pool has tried for long enough.
    return new BatchFailure(
        wrapper instanceof CannotGetJdbcConnectionException ? Remedy.NONE : remedy(failure),
        reason(failure));
  }

  /**
   * A read-only server is worth another attempt: the pool then opens a connection to the primary.
   */
  private static Remedy remedy(PostgresFailure failure) {
    if (failure.isOfAnotherServer()) {
      return Remedy.RECOVERY;
    }
    if (failure.hasState(PostgresFailure.READ_ONLY)
        || (REPEATABLE_CLASSES.stream().anyMatch(failure::hasState)
            && !failure.hasState(PostgresFailure.CANCELED))) {
      return Remedy.REPEAT;
    }
    return failure.hasState(LOCKED) || !failure.isTransient() ? Remedy.SEPARATE : Remedy.NONE;
  }

  /** Returns the exception that rule R7 of the store allows for the failure. */
  private static RuntimeException reason(PostgresFailure failure) {
    return failure.isTransient()
        ? new PlantStoreUnavailableException(failure.describe())
        : new IllegalStateException("PostgreSQL refused a plant for good: " + failure.describe());
  }
}
