package org.plantstore.adapter.persistence;

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
 * A failure of the database, its driver, or its connection pool. Its SQLSTATE determines whether
 * the plants of a batch are retried, whether startup continues to wait, and whether the connection
 * is evicted.
 */
final class DatabaseFailure extends Exception {

  /** How the plants of a failed batch are retried. */
  enum Retry {
    /** The batch is retried as a whole until the deadline of its plants. */
    BATCH,
    /** Each plant is retried once on its own, because one of them may have caused the failure. */
    ALONE,
    /** The plants are not retried. */
    NEVER
  }

  /** SQLSTATE class 28: the credentials are invalid, or the role may not log in. */
  private static final String LOGIN = "28";

  /** SQLSTATE of a missing right. */
  static final String FORBIDDEN = "42501";

  /** SQLSTATE of a table that does not exist, or that the search_path does not contain. */
  private static final String NO_TABLE = "42P01";

  /** SQLSTATE of a lock that was not granted in time. */
  static final String LOCKED = "55P03";

  /** SQLSTATE of a canceled statement, and of a commit that no standby has confirmed. */
  static final String CANCELED = "57014";

  /** SQLSTATE of a write to a standby, or in a read-only transaction. */
  static final String READ_ONLY = "25006";

  private static final long serialVersionUID = 1L;

  /**
   * SQLSTATEs and classes that settings of the role, such as its search_path, may cause. An open
   * connection keeps its settings, so a new connection may succeed.
   */
  static final Set<String> OF_SESSION = Set.of(READ_ONLY, "26", "42");

  /**
   * SQLSTATEs and classes after which the whole batch is retried: connection failures (08),
   * read-only servers, serialization failures and deadlocks (40), missing tables, and operator
   * intervention (57).
   */
  private static final Set<String> REPEATABLE = Set.of("08", READ_ONLY, "40", NO_TABLE, "57");

  /**
   * SQLSTATEs and classes of transient failures. In addition to {@link #REPEATABLE}, these are
   * transaction time-outs (25P03, 25P04), invalid credentials, missing databases (3D), insufficient
   * resources (53), objects in use (55), and system errors of the server (58).
   */
  private static final Set<String> TRANSIENT =
      Set.of(
          "08", READ_ONLY, "25P03", "25P04", LOGIN, "3D", "40", NO_TABLE, "53", "55", "57", "58");

  /**
   * SQLSTATEs and classes of transient failures that end startup at once: refused credentials, a
   * missing database or table, and a server without the TLS that {@code sslmode} requires (08004).
   */
  private static final Set<String> LASTING = Set.of(LOGIN, "3D", NO_TABLE, "08004");

  private static final Set<Class<?>> NETWORK_FAILURES =
      Set.of(
          SocketException.class,
          UnknownHostException.class,
          InterruptedIOException.class,
          EOFException.class);

  final transient SQLException cause;

  /** The innermost SQLSTATE, or an empty string. Pools wrap the driver's exception in their own. */
  private final String state;

  DatabaseFailure(SQLException cause) {
    super(cause);
    this.cause = cause;
    state =
        causes(cause, SQLException.class)
            .map(SQLException::getSQLState)
            .filter(Objects::nonNull)
            .reduce("", (outer, inner) -> inner);
  }

  /** Returns the failure of the database that caused a framework's exception, if there is one. */
  static Optional<DatabaseFailure> in(RuntimeException wrapper) {
    return causes(wrapper, SQLException.class).findFirst().map(DatabaseFailure::new);
  }

  /** Returns how the plants of a failed batch are retried. */
  Retry retry() {
    // The pool has already waited for a connection until the deadline.
    boolean isWithoutConnection = cause instanceof SQLTransientConnectionException;
    if (isWithoutConnection || isOf(CANCELED)) {
      return Retry.NEVER;
    }
    if (isOf(REPEATABLE)) {
      return Retry.BATCH;
    }
    return isOf(LOCKED) || !isTransient() ? Retry.ALONE : Retry.NEVER;
  }

  /** Returns whether a later attempt may succeed. A time-out of the pool has no SQLSTATE. */
  boolean isTransient() {
    return state.isEmpty() || isOf(TRANSIENT);
  }

  /** Returns a new exception for one caller (R7), who may add suppressed exceptions to it. */
  RuntimeException asReason() {
    return isTransient()
        ? new PlantStoreUnavailableException(describe() + remedy())
        : new IllegalStateException(
            "PostgreSQL permanently rejects the plant: " + describe() + remedy());
  }

  /** Returns the remedy if a right or the table is missing, otherwise an empty string. */
  String remedy() {
    if (isOf(FORBIDDEN)) {
      return "; grant the role the missing privilege, usually with GRANT INSERT, SELECT ON plant";
    }
    return isOf(NO_TABLE)
        ? "; rename the table back to plant, or correct the role's search_path"
        : "";
  }

  /** Returns whether startup waits for this failure to end. */
  boolean isWorthWaiting() {
    return isTransient() && !isOf(LASTING) && !isLocal();
  }

  /**
   * Returns whether neither the network nor the server is the cause, so that waiting does not help.
   * For example, the driver cannot use a file or a parameter, or does not trust the server.
   */
  boolean isLocal() {
    Throwable root = causes(this, Throwable.class).reduce((outer, inner) -> inner).orElseThrow();
    return isOf("08006")
        && !isOfServer()
        && NETWORK_FAILURES.stream().noneMatch(type -> type.isInstance(root));
  }

  /** Returns whether the server reported the failure through a working connection. */
  boolean isOfServer() {
    return causes(this, PSQLException.class).anyMatch(each -> each.getServerErrorMessage() != null);
  }

  /** Returns whether the failure has one of these SQLSTATEs, or belongs to one of the classes. */
  boolean isOf(Set<String> statesAndClasses) {
    return statesAndClasses.stream().anyMatch(state::startsWith);
  }

  /** Returns whether the failure has this SQLSTATE, or belongs to this class of SQLSTATEs. */
  boolean isOf(String stateOrClass) {
    return state.startsWith(stateOrClass);
  }

  /**
   * Returns a description in one line. It contains no details of server errors, because these may
   * quote rows, and no addresses, because these may contain a password.
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
      // The driver's text is in the language of the JVM, and names a setting of the driver.
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
