package org.plantstore.adapter.persistence.database;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.EOFException;
import java.net.ConnectException;
import java.nio.file.NoSuchFileException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/** {@code ExceptionTranslationTest} shows which states are transient. */
class PostgresFailureTest {

  @Test
  void innermost_state_and_every_message_are_reported() {
    SQLException refused = new SQLException("Connection refused", "08001");
    refused.initCause(new ConnectException("no route"));
    SQLException timeout = new SQLTransientConnectionException("timed out", "HY000", refused);

    PostgresFailure failure = new PostgresFailure(timeout);

    assertTrue(failure.isTransient());
    assertEquals("timed out: Connection refused: no route (SQLSTATE 08001)", failure.describe());
  }

  /** Severity, state and routine of the server's message. */
  @ParameterizedTest
  @CsvSource({
    "ERROR, 08006, ReportConnectionError, true",
    "FEHLER, 08006, ReportConnectionError, true",
    "ERROR, 57P01, ReportResultError, true",
    "ERROR, 25006, ReportResultError, true",
    "ERROR, 25006, PreventCommandIfReadOnly, false",
    "FATAL, 57P01, ProcessInterrupts, false",
    "FATAL, 08P01, pooler, false",
    "ERROR, 55P03, ReportResultError, false",
  })
  void failure_of_another_server_is_recognised(
      String severity, String state, String routine, boolean expected) {
    ServerErrorMessage message =
        new ServerErrorMessage("S" + severity + "\0C" + state + "\0Mfailed\0R" + routine + "\0");

    assertEquals(expected, new PostgresFailure(new PSQLException(message)).isOfAnotherServer());
    assertFalse(failure(state, null).isOfAnotherServer(), "the driver's own failure");
  }

  @Test
  void failure_of_the_driver_that_is_not_of_the_network_is_of_its_parameters() {
    assertTrue(failure("08006", null).isOfParameters());
    assertTrue(failure("08006", new ClassNotFoundException()).isOfParameters());
    assertTrue(failure("08006", new NoSuchFileException("client.crt")).isOfParameters());
    assertFalse(failure("08006", new EOFException()).isOfParameters());
    assertFalse(failure("08001", null).isOfParameters(), "no answer in time, or no primary");
    assertFalse(
        new PostgresFailure(new PSQLException(new ServerErrorMessage("SERROR\0C08006\0Mlost\0")))
            .isOfParameters());
  }

  private static PostgresFailure failure(String state, @Nullable Throwable cause) {
    return new PostgresFailure(new SQLException("failed", state, cause));
  }
}
