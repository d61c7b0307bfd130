package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.data.connection.jdbc.exceptions.CannotGetJdbcConnectionException;
import java.sql.SQLException;
import java.util.List;
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
    "BATCH, true, 08000 08001 08006 25006 40001 40P01 57P01 57P03",
    "EACH, true, 55P03",
    "EACH, false, 22021 23502 25001 42501 42P01 XX000 0",
    "NEVER, true, 25P03 25P04 28000 28P01 3D000 53100 53300 57014 58030"
  })
  void retry_and_reason_fit_the_state(Retry retry, boolean isTransient, String states) {
    for (String state : states.split(" ", -1)) {
      BatchFailure failure = failure(state);

      String told = "failed (SQLSTATE " + state + ")";
      assertEquals(retry, failure.retry(), state);
      assertEquals(
          isTransient ? PlantStoreUnavailableException.class : IllegalStateException.class,
          failure.reason().getClass(),
          state);
      assertEquals(
          isTransient ? told : "PostgreSQL refuses the plant permanently: " + told,
          failure.reason().getMessage());
      assertNull(failure.reason().getCause());
    }
  }

  @Test
  void failure_without_a_state_or_a_connection_is_transient_and_not_retried() {
    var none = new CannotGetJdbcConnectionException("none", new SQLException("failed", "08001"));
    for (BatchFailure failure : List.of(failure(null), ExceptionTranslation.toBatchFailure(none))) {
      assertEquals(Retry.NEVER, failure.retry());
      assertTrue(failure.isTransient());
    }
    assertEquals("failed", failure(null).reason().getMessage());
  }

  @Test
  void exception_without_a_failure_of_the_database_is_a_bug_and_stays() {
    RuntimeException bug = new IllegalArgumentException("bug");

    assertSame(
        bug, assertThrows(RuntimeException.class, () -> ExceptionTranslation.toBatchFailure(bug)));
  }

  private static BatchFailure failure(@Nullable String state) {
    return ExceptionTranslation.toBatchFailure(
        new IllegalArgumentException(new SQLException("failed", state)));
  }
}
