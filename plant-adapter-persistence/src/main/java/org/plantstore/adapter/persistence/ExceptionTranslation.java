package org.plantstore.adapter.persistence;

import io.micronaut.data.connection.jdbc.exceptions.CannotGetJdbcConnectionException;
import java.time.Duration;
import java.util.Set;
import org.plantstore.adapter.persistence.batch.BatchFailure;
import org.plantstore.adapter.persistence.batch.BatchFailure.Retry;
import org.plantstore.adapter.persistence.database.PostgresFailure;

/** Translates exceptions of the database into failures of a batch. */
final class ExceptionTranslation {

  /**
   * The states and classes after which the same statement may succeed at once: connection,
   * concurrency, operator, and a read-only server, after which the pool connects to the primary.
   */
  private static final Set<String> REPEATABLE = Set.of("08", "40", "57", PostgresFailure.READ_ONLY);

  /** The time in which another server, which the database needs, may come back. */
  private static final Duration PAUSE = Duration.ofMillis(100);

  private ExceptionTranslation() {}

  /** Returns the failure of the database or of its pool; throws any other exception as it is. */
  static BatchFailure toBatchFailure(RuntimeException wrapper) {
    PostgresFailure failure = PostgresFailure.in(wrapper).orElseThrow(() -> wrapper);
    // Without a connection, the pool has already retried until its timeout.
    return new BatchFailure(
        wrapper instanceof CannotGetJdbcConnectionException ? Retry.NEVER : retry(failure),
        failure.isOfAnotherServer() ? PAUSE : Duration.ZERO,
        failure.isTransient(),
        (failure.isTransient() ? "" : "PostgreSQL refuses the plant permanently: ")
            + failure.describe());
  }

  private static Retry retry(PostgresFailure failure) {
    if (failure.isOfAnotherServer()) {
      return Retry.EACH; // the plants may need different servers
    }
    if (failure.hasState(PostgresFailure.CANCELED)) {
      return Retry.NEVER; // a statement that takes too long, or a commit without a standby
    }
    if (REPEATABLE.stream().anyMatch(failure::hasState)) {
      return Retry.BATCH;
    }
    if (failure.hasState("55P03") || !failure.isTransient()) {
      return Retry.EACH; // one of the plants has a locked id, or is refused
    }
    return Retry.NEVER;
  }
}
