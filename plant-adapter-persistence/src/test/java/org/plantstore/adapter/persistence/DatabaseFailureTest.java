package org.plantstore.adapter.persistence;

import static com.zaxxer.hikari.SQLExceptionOverride.Override.CONTINUE_EVICT;
import static com.zaxxer.hikari.SQLExceptionOverride.Override.DO_NOT_EVICT;
import static com.zaxxer.hikari.SQLExceptionOverride.Override.MUST_EVICT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.SQLExceptionOverride;
import io.micronaut.data.connection.jdbc.exceptions.CannotGetJdbcConnectionException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.persistence.DatabaseFailure.Retry;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.postgresql.util.PSQLException;
import org.postgresql.util.PSQLState;
import org.postgresql.util.ServerErrorMessage;

class DatabaseFailureTest {

  @ParameterizedTest
  @CsvSource({
    "BATCH, true, 08000 08001 08006 25006 40001 40P01 57P01 57P03, ''",
    "BATCH, true, 42P01, <table>",
    "ALONE, true, 55P03, ''",
    "ALONE, false, 22021 23502 25001 42703 XX000 0, ''",
    "ALONE, false, 42501, <grant>",
    "NEVER, true, 25P03 25P04 28000 28P01 3D000 53100 53300 57014 58030, ''"
  })
  void sqlstate_determines_the_retry_and_the_reason_for_the_caller(
      Retry retry, boolean isTransient, String states, String remedy) {
    for (String state : states.split(" ", -1)) {
      DatabaseFailure failure = in(new IllegalArgumentException(new SQLException("failed", state)));

      String table = "; rename the table back to plant, or correct the role's search_path";
      String grant = "; grant the role the missing privilege";
      String message =
          ("failed (SQLSTATE " + state + ")")
              + remedy.replace("<table>", table).replace("<grant>", grant);
      assertEquals(retry, failure.retry(), state);
      RuntimeException reason = failure.asReason();
      assertEquals(
          isTransient ? PlantStoreUnavailableException.class : IllegalStateException.class,
          reason.getClass(),
          state);
      assertEquals(
          isTransient
              ? message
              : "PostgreSQL rejected the plant, and retrying will not help: " + message,
          reason.getMessage());
      assertNull(reason.getCause(), "R7");
    }
  }

  private static DatabaseFailure in(RuntimeException wrapper) {
    return DatabaseFailure.in(wrapper).orElseThrow();
  }

  @Test
  void batch_without_a_connection_is_not_retried_and_its_failure_is_described_without_addresses() {
    SQLException refused = failure("08001", new ConnectException("no route"));
    SQLException timeout = new SQLTransientConnectionException("timed out", "HY000", refused);
    DatabaseFailure failure = in(new CannotGetJdbcConnectionException("none", timeout));
    assertEquals(Retry.NEVER, failure.retry());
    assertTrue(failure.isTransient());
    assertEquals("timed out: failed: no route (SQLSTATE 08001)", failure.describe());
    SQLException forbidden = new SQLException("permission denied", "42501");
    SQLException noPlantSent = new SQLTransientConnectionException("timed out", "HY000", forbidden);
    assertTrue(new DatabaseFailure(noPlantSent).isTransient());

    SQLException readOnly =
        new PSQLException("in any language", PSQLState.CONNECTION_UNABLE_TO_CONNECT);
    assertEquals(
        "no server in DATABASE_URL accepts writes (SQLSTATE 08001)",
        new DatabaseFailure(readOnly).describe());
    SQLException unparsable = new SQLException("Unable to parse URL jdbc:postgresql:x?a=canary");
    assertEquals("the driver cannot use DATABASE_URL", new DatabaseFailure(unparsable).describe());
  }

  @Test
  void host_name_that_does_not_resolve_is_reported() {
    assertEquals(
        "failed: the host name db.example does not resolve (SQLSTATE 08001)",
        new DatabaseFailure(failure("08001", new UnknownHostException("db.example"))).describe());
  }

  /** An unreadable key also causes an IOException. */
  @Test
  void startup_waits_for_the_network_and_the_server_but_not_for_files_and_parameters() {
    assertTrue(isWorthWaiting(failure("08006", new ConnectException())));
    assertTrue(isWorthWaiting(failure("08006", new SocketTimeoutException())));
    assertTrue(isWorthWaiting(failure("08001", null)));
    assertTrue(isWorthWaiting(ofServer("08006")));
    assertFalse(isWorthWaiting(failure("08006", null)));
    assertFalse(isWorthWaiting(failure("08006", new IOException("no key"))));
    for (String lasting : "28P01 3D000 08004 42501".split(" ", -1)) {
      assertFalse(isWorthWaiting(ofServer(lasting)), lasting);
    }
  }

  private static boolean isWorthWaiting(SQLException failure) {
    return new DatabaseFailure(failure).isWorthWaiting();
  }

  /** A Citus coordinator reports a failed worker through a working connection. */
  @Test
  void connection_is_kept_if_another_server_failed_and_evicted_if_it_may_be_the_cause() {
    assertEquals(DO_NOT_EVICT, override(ofServer("08006")));
    assertEquals(CONTINUE_EVICT, override(ofServer("08P01")));
    assertEquals(CONTINUE_EVICT, override(failure("08006", null)));
    for (String ofSession : "25006 26000 42501 42P01".split(" ", -1)) {
      assertEquals(MUST_EVICT, override(ofServer(ofSession)), ofSession);
    }
    assertEquals(CONTINUE_EVICT, override(ofServer("23502")));
  }

  private static SQLExceptionOverride.Override override(SQLException failure) {
    return new ConnectionPool.Eviction().adjudicate(failure);
  }

  private static SQLException ofServer(String state) {
    return new PSQLException(new ServerErrorMessage("SFEHLER\0C" + state + "\0Mfailed\0"));
  }

  private static SQLException failure(String state, @Nullable Throwable cause) {
    return new SQLException("failed", state, cause);
  }
}
