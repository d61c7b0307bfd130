package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

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
    "08006, BATCH",
    "40001, BATCH",
    "40P01, BATCH",
    "57P01, BATCH",
    "55P03, EACH",
    "22021, EACH",
    "42P01, EACH",
    "57014, NEVER",
    "53300, NEVER",
    "25P04, NEVER",
    "25006, BATCH",
    ", NEVER"
  })
  void retry_fits_the_state(@Nullable String state, Retry retry) {
    assertEquals(retry, ExceptionTranslation.toBatchFailure(wrapped(state)).retry());
  }

  @Test
  void reason_fits_what_trying_again_can_do() {
    RuntimeException passing = ExceptionTranslation.toBatchFailure(wrapped("40001")).reason();
    assertInstanceOf(PlantStoreUnavailableException.class, passing);
    assertEquals("failed (SQLSTATE 40001)", passing.getMessage());

    RuntimeException lasting = ExceptionTranslation.toBatchFailure(wrapped("23502")).reason();
    assertInstanceOf(IllegalStateException.class, lasting);
    assertEquals(
        "PostgreSQL refuses the plant permanently: failed (SQLSTATE 23502)", lasting.getMessage());
    assertNull(lasting.getCause());
  }

  @Test
  void batch_without_a_connection_is_not_repeated() {
    BatchFailure failure =
        ExceptionTranslation.toBatchFailure(
            new CannotGetJdbcConnectionException("none", new SQLException("failed", "08001")));

    assertEquals(Retry.NEVER, failure.retry());
    assertInstanceOf(PlantStoreUnavailableException.class, failure.reason());
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
