package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import java.net.ConnectException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.persistence.BatchFailure.Remedy;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

class PostgresFailureTest {

  @ParameterizedTest
  @NullSource
  @ValueSource(
      strings = {
        "08000", "08001", "08006", "25006", "25P03", "25P04", "28P01", "3D000", "40001", "40P01",
        "53100", "53300", "55P03", "57014", "57P01", "57P03", "58030"
      })
  void trying_again_can_help(@Nullable String state) {
    assertInstanceOf(PlantStoreUnavailableException.class, failure(state).toDomain());
  }

  @ParameterizedTest
  @ValueSource(strings = {"22021", "23502", "25001", "42501", "42P01", "XX000", "0", ""})
  void trying_again_cannot_help(String state) {
    assertInstanceOf(IllegalStateException.class, failure(state).toDomain());
  }

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
    assertEquals(remedy, failure(state).remedy());
  }

  @Test
  void innermost_state_counts_and_every_message_is_told() {
    SQLException refused = new SQLException("Connection refused", "08001");
    refused.initCause(new ConnectException("no route"));
    SQLException timeout = new SQLTransientConnectionException("timed out", "HY000", refused);

    PostgresFailure failure = new PostgresFailure(timeout);

    assertInstanceOf(PlantStoreUnavailableException.class, failure.toDomain());
    assertEquals("timed out: Connection refused: no route (SQLSTATE 08001)", failure.describe());
  }

  @Test
  void details_of_the_server_are_not_told() {
    ServerErrorMessage message =
        new ServerErrorMessage("SERROR\0C23502\0Mnull value in a column\0DFailing row (secret)\0");

    RuntimeException failure = new PostgresFailure(new PSQLException(message)).toDomain();

    assertEquals(
        "PostgreSQL refused a plant for good: null value in a column (SQLSTATE 23502)",
        failure.getMessage());
  }

  private static PostgresFailure failure(@Nullable String state) {
    return new PostgresFailure(new SQLException("failed", state));
  }
}
