package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.data.connection.jdbc.exceptions.CannotGetJdbcConnectionException;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.persistence.batch.BatchFailure;
import org.plantstore.adapter.persistence.batch.BatchFailure.Retry;
import org.plantstore.domain.PlantStoreUnavailableException;

class ExceptionTranslationTest {

  @ParameterizedTest
  @CsvSource({
    "08006, BATCH, true",
    "40001, BATCH, true",
    "40P01, BATCH, true",
    "57P01, BATCH, true",
    "55P03, EACH, true",
    "22021, EACH, false",
    "42P01, EACH, false",
    "57014, NEVER, true",
    "53300, NEVER, true",
    "25P04, NEVER, true",
    "25006, BATCH, true",
    ", NEVER, true"
  })
  void retry_and_reason_fit_the_state(@Nullable String state, Retry retry, boolean isTransient) {
    BatchFailure failure = ExceptionTranslation.toBatchFailure(wrapped(state));

    String told = state == null ? "failed" : "failed (SQLSTATE " + state + ")";
    assertEquals(retry, failure.retry());
    assertEquals(
        isTransient ? PlantStoreUnavailableException.class : IllegalStateException.class,
        failure.reason().getClass());
    assertEquals(
        isTransient ? told : "PostgreSQL refuses the plant permanently: " + told,
        failure.reason().getMessage());
    assertNull(failure.reason().getCause());
  }

  @Test
  void batch_without_a_connection_is_not_repeated() {
    BatchFailure failure =
        ExceptionTranslation.toBatchFailure(
            new CannotGetJdbcConnectionException("none", new SQLException("failed", "08001")));

    assertEquals(Retry.NEVER, failure.retry());
    assertTrue(failure.isTransient());
  }

  @Test
  void exception_without_a_failure_of_the_database_is_a_bug_and_stays() {
    RuntimeException bug = new IllegalArgumentException("bug");

    assertSame(
        bug, assertThrows(RuntimeException.class, () -> ExceptionTranslation.toBatchFailure(bug)));
  }

  private static RuntimeException wrapped(@Nullable String state) {
    return new IllegalArgumentException(new SQLException("failed", state));
  }
}
