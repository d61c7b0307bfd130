package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.micronaut.data.connection.jdbc.exceptions.CannotGetJdbcConnectionException;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.persistence.batch.BatchFailure;
import org.plantstore.adapter.persistence.batch.BatchFailure.Remedy;
import org.plantstore.domain.PlantStoreUnavailableException;

class ExceptionTranslationTest {

  @ParameterizedTest
  @CsvSource({
    "08006, REPEAT",
    "40001, REPEAT",
    "40P01, REPEAT",
    "57P01, REPEAT",
    "55P03, SEPARATE",
    "22021, SEPARATE",
    "42P01, SEPARATE",
    "57014, NONE",
    "53300, NONE",
    "25P04, NONE",
    "25006, REPEAT",
    ", NONE"
  })
  void remedy_fits_the_state(@Nullable String state, Remedy remedy) {
    assertEquals(remedy, ExceptionTranslation.toBatchFailure(wrapped(state)).remedy());
  }

  @Test
  void reason_fits_what_trying_again_can_do() {
    RuntimeException passing = ExceptionTranslation.toBatchFailure(wrapped("40001")).reason();
    assertInstanceOf(PlantStoreUnavailableException.class, passing);
    assertEquals("failed (SQLSTATE 40001)", passing.getMessage());

    RuntimeException lasting = ExceptionTranslation.toBatchFailure(wrapped("23502")).reason();
    assertInstanceOf(IllegalStateException.class, lasting);
    assertEquals(
        "PostgreSQL refused a plant for good: failed (SQLSTATE 23502)", lasting.getMessage());
  }

  @Test
  void batch_without_a_connection_is_not_repeated() {
    BatchFailure failure =
        ExceptionTranslation.toBatchFailure(
            new CannotGetJdbcConnectionException("none", new SQLException("failed", "08001")));

    assertEquals(Remedy.NONE, failure.remedy());
    assertInstanceOf(PlantStoreUnavailableException.class, failure.reason());
  }

  @Test
  void exception_without_a_failure_of_the_database_is_a_bug_and_passed_on() {
    RuntimeException bug = new IllegalArgumentException("bug");

    assertSame(
        bug, assertThrows(RuntimeException.class, () -> ExceptionTranslation.toBatchFailure(bug)));
  }

  private static RuntimeException wrapped(@Nullable String state) {
    return new IllegalArgumentException(new SQLException("failed", state));
  }
}
