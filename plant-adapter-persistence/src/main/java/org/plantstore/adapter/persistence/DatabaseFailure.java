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
 * A failure of the database, its driver or its pool, classified by its SQLSTATE: what it means for
 * the plants of a batch, for a start that waits, and for the connection.
 */
final class DatabaseFailure extends Exception {

  /** How the plants of a failed batch are retried. */
  enum Retry {
    /** Together, until their deadline. */
    BATCH,
    /** Each on its own, once: one of the plants may be the cause. */
    ALONE,
    /** Not at all. */
    NEVER
  }

  /** The class of a wrong name or password, and of an account that may not log in. */
  private static final String ACCOUNT = "28";

  /** The state of a lock that was not granted in time. */
  static final String LOCKED = "55P03";

  /** The state of a cancelled statement, and of a commit that no standby has confirmed. */
  static final String CANCELED = "57014";

  /** The state of a standby, and of an account with read-only transactions. */
  static final String READ_ONLY = "25006";

  private static final long serialVersionUID = 1L;

  /**
   * States and classes that a role's settings may cause, such as its search_path. A connection
   * keeps the settings that it began with, so another connection may succeed.
   */
  static final Set<String> OF_SESSION = Set.of(READ_ONLY, "26", "42");

  /**
   * States and classes of the connection, read-only servers, concurrency, hidden tables, operators.
   */
  private static final Set<String> REPEATABLE = Set.of("08", READ_ONLY, "40", "42P01", "57");

  /**
   * Transient states and classes: connection, read-only servers, time-outs of transactions,
   * accounts, missing databases, concurrency, hidden or renamed tables, resources, locks,
   * operators, the server's system.
   */
  private static final Set<String> TRANSIENT =
      Set.of(
          "08", READ_ONLY, "25P03", "25P04", ACCOUNT, "3D", "40", "42P01", "53", "55", "57", "58");

  /**
   * States and classes that a start does not wait out: an account that is refused, a missing
   * database or table, a server without the TLS that {@code sslmode} demands.
   */
  private static final Set<String> LASTING = Set.of(ACCOUNT, "3D", "42P01", "08004");

  private static final Set<Class<?>> OF_NETWORK =
      Set.of(
          SocketException.class,
          UnknownHostException.class,
          InterruptedIOException.class,
          EOFException.class);

  final transient SQLException cause;

  /** The innermost state, or an empty string: a pool wraps the driver's exception in its own. */
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

  /** Returns the failure that a framework has wrapped, if there is one. */
  static Optional<DatabaseFailure> in(RuntimeException wrapper) {
    return causes(wrapper, SQLException.class).findFirst().map(DatabaseFailure::new);
  }

  Retry retry() {
    // The pool has already tried to connect until the deadline.
    boolean isWithoutConnection = cause instanceof SQLTransientConnectionException;
    if (isWithoutConnection || isOf(CANCELED)) {
      return Retry.NEVER;
    }
    if (isOf(REPEATABLE)) {
      return Retry.BATCH;
    }
    return isOf(LOCKED) || !isTransient() ? Retry.ALONE : Retry.NEVER;
  }

  /** Returns whether the same plants may be stored later. Without state it is a pool's time-out. */
  boolean isTransient() {
    return state.isEmpty() || isOf(TRANSIENT);
  }

  /** Returns a new exception for one caller (R7), who may add suppressed exceptions to it. */
  RuntimeException asReason() {
    return isTransient()
        ? new PlantStoreUnavailableException(describe())
        : new IllegalStateException("PostgreSQL refuses the plant permanently: " + describe());
  }

  /** Returns whether a start waits for the end of this failure. */
  boolean isWorthWaiting() {
    return isTransient() && !isOf(LASTING) && !isLocal();
  }

  /** Returns the refusal of a start. */
  ConfigurationException asRefusal() {
    String places =
        isLocal()
            ? "its certificate, and the host and the parameters in DATABASE_URL"
            : "DATABASE_URL, DATABASE_USERNAME, DATABASE_PASSWORD and the server";
    return new ConfigurationException(
        "the database cannot be used; check " + places + ": " + describe());
  }

  /**
   * Returns whether the driver cannot use a file or a parameter, or does not trust the server, so
   * that waiting does not help: the failure is neither the network's nor the server's.
   */
  private boolean isLocal() {
    Throwable root = causes(this, Throwable.class).reduce((outer, inner) -> inner).orElseThrow();
    return isOf("08006")
        && !isOfServer()
        && OF_NETWORK.stream().noneMatch(type -> type.isInstance(root));
  }

  /** Returns whether the server has reported the failure, on a connection that works. */
  boolean isOfServer() {
    return causes(this, PSQLException.class).anyMatch(each -> each.getServerErrorMessage() != null);
  }

  /** Returns whether the failure has one of these states, or is of one of these classes. */
  boolean isOf(Set<String> statesAndClasses) {
    return statesAndClasses.stream().anyMatch(state::startsWith);
  }

  /** Returns whether the failure has this state, or is of this class of states. */
  boolean isOf(String stateOrClass) {
    return state.startsWith(stateOrClass);
  }

  /**
   * Returns one line. It has no details of the server, which would quote rows, and no address,
   * which may have a password.
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
      return "no address is known of " + message;
    }
    boolean isOfDriver = link instanceof PSQLException && server == null && link.getCause() == null;
    if (isOfDriver && "08001".equals(((PSQLException) link).getSQLState())) {
      // The driver's own text names one of its settings, in the language of the JVM.
      return "DATABASE_URL leads to no server that accepts writes";
    }
    return message.isEmpty() ? link.getClass().getSimpleName() : message;
  }

  private static <T> Stream<T> causes(Throwable wrapper, Class<T> type) {
    return Stream.iterate(wrapper, Objects::nonNull, Throwable::getCause)
        .filter(type::isInstance)
        .map(type::cast);
  }
}
