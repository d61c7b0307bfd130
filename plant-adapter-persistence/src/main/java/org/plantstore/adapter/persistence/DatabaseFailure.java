package org.plantstore.adapter.persistence;

import io.micronaut.context.exceptions.ConfigurationException;
import java.io.EOFException;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/**
 * A failure of the database, its driver, or its connection pool. The failure's SQLSTATE determines
 * whether the plants in a batch are retried, whether startup continues to wait, and whether the
 * connection is evicted.
 */
final class DatabaseFailure extends Exception {

  /** How to retry the plants in a failed batch. */
  enum Retry {
    /** The whole batch is retried until its plants reach their deadlines. */
    BATCH,
    /** Each plant is retried once on its own, because any plant may have caused the failure. */
    ALONE,
    /** The plants are not retried. */
    NEVER
  }

  /** SQLSTATE 42501: the role lacks a privilege. */
  private static final String FORBIDDEN = "42501";

  /** SQLSTATE 42P01: no schema in the search_path contains the table. */
  private static final String NO_TABLE = "42P01";

  /** SQLSTATE 55P03: a lock was not granted in time. */
  static final String LOCKED = "55P03";

  /** SQLSTATE 57014: a statement was canceled, or no standby has confirmed a commit. */
  static final String CANCELED = "57014";

  /** SQLSTATE 25006: a write was attempted on a standby or in a read-only transaction. */
  static final String READ_ONLY = "25006";

  private static final long serialVersionUID = 1L;

  /**
   * The SQLSTATEs and SQLSTATE classes after which the whole batch is retried: connection failures
   * (08), read-only servers, serialization failures and deadlocks (40), missing tables, and
   * operator intervention (57).
   */
  private static final Set<String> BATCH_RETRYABLE = Set.of("08", READ_ONLY, "40", NO_TABLE, "57");

  /**
   * The SQLSTATEs and SQLSTATE classes of other transient failures: transaction timeouts (25P03,
   * 25P04), invalid credentials (28), missing databases (3D), insufficient resources (53), objects
   * in use (55), and system errors on the server (58).
   */
  private static final Set<String> OTHER_TRANSIENT =
      Set.of("25P03", "25P04", "28", "3D", "53", "55", "58");

  /**
   * The SQLSTATEs and SQLSTATE classes of transient failures for which startup does not wait:
   * invalid credentials (28), a missing database (3D) or table, and a server that does not offer
   * TLS although {@code sslmode} requires it (08004).
   */
  private static final Set<String> NOT_WORTH_WAITING = Set.of("28", "3D", NO_TABLE, "08004");

  private static final Set<Class<?>> NETWORK_FAILURES =
      Set.of(
          SocketException.class,
          UnknownHostException.class,
          InterruptedIOException.class,
          EOFException.class);

  final transient SQLException cause;

  /** The SQLSTATE of the innermost exception that has one, or an empty string if there is none. */
  private final String state;

  /** Whether the pool failed to provide a connection in time. If so, no plant was sent. */
  private final boolean isPoolTimeout;

  DatabaseFailure(SQLException cause) {
    super(cause);
    this.cause = cause;
    state =
        causes(cause, SQLException.class)
            .map(SQLException::getSQLState)
            .filter(Objects::nonNull)
            .reduce("", (outer, inner) -> inner);
    isPoolTimeout = cause instanceof SQLTransientConnectionException;
  }

  /** Returns the database failure that caused the framework's exception, if there was one. */
  static Optional<DatabaseFailure> in(RuntimeException wrapper) {
    return causes(wrapper, SQLException.class).findFirst().map(DatabaseFailure::new);
  }

  Retry retry() {
    if (isPoolTimeout || hasState(CANCELED)) {
      return Retry.NEVER;
    }
    if (hasState(BATCH_RETRYABLE)) {
      return Retry.BATCH;
    }
    return hasState(LOCKED) || !isTransient() ? Retry.ALONE : Retry.NEVER;
  }

  /** Returns whether a later attempt may succeed. */
  boolean isTransient() {
    boolean isTransientState = hasState(BATCH_RETRYABLE) || hasState(OTHER_TRANSIENT);
    return isPoolTimeout || state.isEmpty() || isTransientState;
  }

  /** Returns a new exception on each call, because a caller may add suppressed exceptions (R7). */
  RuntimeException asReason() {
    return isTransient()
        ? new PlantStoreUnavailableException(describe() + remedy())
        : new IllegalStateException(
            "PostgreSQL rejected the plant, and retrying will not help: " + describe() + remedy());
  }

  /** Returns the remedy if a privilege or the table is missing, otherwise an empty string. */
  String remedy() {
    if (hasState(FORBIDDEN)) {
      return "; grant the role the missing privilege";
    }
    return hasState(NO_TABLE)
        ? "; rename the table back to plant, or correct the role's search_path"
        : "";
  }

  /** Returns the exception to throw if this failure prevents startup. */
  ConfigurationException asStartupReason() {
    String remedy = "check DATABASE_URL, DATABASE_USERNAME, DATABASE_PASSWORD, and the server";
    if (isLocal()) {
      remedy = "check the server's certificate, and the host and parameters in DATABASE_URL";
    } else if (hasState("3D")) {
      remedy = "name an existing database in DATABASE_URL, as in jdbc:postgresql://host:5432/name";
    } else if (hasState(FORBIDDEN)) {
      remedy = "grant the role the missing privilege";
    }
    return new ConfigurationException("the database cannot be used; " + remedy + ": " + describe());
  }

  /** Returns whether startup waits and tries again after this failure. */
  boolean isWorthWaiting() {
    return isTransient() && !hasState(NOT_WORTH_WAITING) && !isLocal();
  }

  /**
   * Returns true if neither the network nor the server caused the failure. In that case, waiting
   * does not help. Examples are a parameter that the driver rejects, a file that it cannot read,
   * and a server certificate that it does not trust.
   */
  boolean isLocal() {
    Throwable root = causes(this, Throwable.class).reduce((outer, inner) -> inner).orElseThrow();
    return hasState("08006")
        && !isFromServer()
        && NETWORK_FAILURES.stream().noneMatch(type -> type.isInstance(root));
  }

  /** Returns whether the server reported the failure over a working connection. */
  boolean isFromServer() {
    return causes(this, PSQLException.class).anyMatch(each -> each.getServerErrorMessage() != null);
  }

  /** Returns whether the SQLSTATE is in the given set or belongs to a class in the set. */
  boolean hasState(Set<String> statesAndClasses) {
    return statesAndClasses.stream().anyMatch(state::startsWith);
  }

  boolean hasState(String stateOrClass) {
    return state.startsWith(stateOrClass);
  }

  /**
   * Returns a one-line description. The description omits the server's error details, because they
   * may quote rows. The description also omits addresses, because they may contain a password.
   */
  String describe() {
    String messages =
        causes(cause, Throwable.class)
            .map(DatabaseFailure::messageOf)
            .reduce((outer, inner) -> outer.endsWith(inner) ? outer : outer + ": " + inner)
            .orElseThrow();
    return (messages + (state.isEmpty() ? "" : " (SQLSTATE " + state + ")"))
        .replaceAll("\\s+", " ");
  }

  private static String messageOf(Throwable link) {
    ServerErrorMessage server =
        link instanceof PSQLException postgres ? postgres.getServerErrorMessage() : null;
    String message = Objects.toString(server == null ? link.getMessage() : server.getMessage(), "");
    if (message.contains("jdbc:")) {
      return "the driver cannot use DATABASE_URL";
    }
    if (link instanceof UnknownHostException) {
      return "the host name " + message + " does not resolve";
    }
    boolean isOfDriver = link instanceof PSQLException && server == null && link.getCause() == null;
    if (isOfDriver && "08001".equals(((PSQLException) link).getSQLState())) {
      // The driver's message is in the JVM's language, and refers to one of the driver's settings.
      return "no server in DATABASE_URL accepts writes";
    }
    return message.isEmpty() ? link.getClass().getSimpleName() : message;
  }

  private static <T> Stream<T> causes(Throwable wrapper, Class<T> type) {
    return Stream.iterate(wrapper, Objects::nonNull, Throwable::getCause)
        .filter(type::isInstance)
        .map(type::cast);
  }
}
