package org.plantstore.adapter.persistence;

import static java.util.stream.Collectors.toSet;

import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.data.connection.jdbc.exceptions.CannotGetJdbcConnectionException;
import java.io.EOFException;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
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
  static final String ACCOUNT = "28";

  /** The state of a lock that was not granted in time. */
  static final String LOCKED = "55P03";

  /** The state of a cancelled statement, and of a commit that no standby has confirmed. */
  static final String CANCELED = "57014";

  private static final long serialVersionUID = 1L;

  /** The state of a standby, and of an account with read-only transactions. */
  static final String READ_ONLY = "25006";

  /** States and classes of the connection, read-only servers, concurrency, operators. */
  private static final Set<String> REPEATABLE = Set.of("08", READ_ONLY, "40", "57");

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

  /** The steps of a connection, by methods of the driver, the inner ones first. */
  private static final List<Map.Entry<String, String>> STEPS =
      List.of(
          Map.entry("getAllByName", "name of the host"),
          Map.entry("enableSSL", "TLS"),
          Map.entry("createSocket", "connection"),
          Map.entry("doAuthentication", "login"));

  private final Retry retry;

  /** Creates a failure of an attempt to connect, or of a statement. */
  DatabaseFailure(SQLException cause) {
    this(cause, false);
  }

  private DatabaseFailure(SQLException cause, boolean isWithoutConnection) {
    super(cause);
    if (isWithoutConnection || hasState(CANCELED)) {
      retry = Retry.NEVER; // the pool has already retried until the deadline
    } else if (isOf(REPEATABLE)) {
      retry = Retry.BATCH;
    } else {
      retry = hasState(LOCKED) || !isTransient() ? Retry.ALONE : Retry.NEVER;
    }
  }

  /** Returns the failure that a framework has wrapped; throws any other exception as it is. */
  static DatabaseFailure of(RuntimeException wrapper) {
    return new DatabaseFailure(
        in(wrapper).orElseThrow(() -> wrapper),
        wrapper instanceof CannotGetJdbcConnectionException);
  }

  /** Returns the exception of the database that a framework has wrapped, if there is one. */
  static Optional<SQLException> in(Throwable wrapper) {
    return causes(wrapper, SQLException.class).findFirst();
  }

  Retry retry() {
    return retry;
  }

  /** Returns whether the same plants may be stored later. Without state it is a pool's time-out. */
  boolean isTransient() {
    return state().isEmpty() || isOf(TRANSIENT);
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

  /** Returns the refusal of a start; the text says how long it has waited. */
  ConfigurationException asRefusal(String waited) {
    String places =
        isLocal()
            ? "its certificate, and the host and the parameters in DATABASE_URL"
            : "DATABASE_URL, DATABASE_USERNAME, DATABASE_PASSWORD and the server";
    return new ConfigurationException(
        "the database cannot be used" + waited + "; check " + places + ": " + describe());
  }

  /**
   * Returns whether the driver cannot use a file or a parameter, or does not trust the server, so
   * that waiting does not help: the failure is neither the network's nor the server's.
   */
  private boolean isLocal() {
    Throwable root = causes(this, Throwable.class).reduce((outer, inner) -> inner).orElseThrow();
    boolean isOfNetwork =
        root instanceof SocketException
            || root instanceof UnknownHostException
            || root instanceof InterruptedIOException
            || root instanceof EOFException;
    return hasState("08006") && !isOfNetwork && !isOfServer();
  }

  /** Returns whether the server has reported the failure, on a connection that works. */
  boolean isOfServer() {
    return causes(this, PSQLException.class).anyMatch(each -> each.getServerErrorMessage() != null);
  }

  private boolean isOf(Set<String> statesAndClasses) {
    return statesAndClasses.stream().anyMatch(this::hasState);
  }

  /** Returns whether the failure has this state, or is of this class of states. */
  boolean hasState(String stateOrClass) {
    return state().filter(state -> state.startsWith(stateOrClass)).isPresent();
  }

  /** Returns the innermost state: a pool wraps the driver's exception in its own. */
  private Optional<String> state() {
    return causes(this, SQLException.class)
        .map(SQLException::getSQLState)
        .filter(Objects::nonNull)
        .reduce((outer, inner) -> inner);
  }

  /**
   * Returns one line, with the step at which a connection was slow. It has no details of the
   * server, which would quote rows, and no address, which may have a password.
   */
  String describe() {
    String messages =
        causes(this, Throwable.class)
            .skip(1) // this
            .map(DatabaseFailure::messageOf)
            .reduce((outer, inner) -> outer.endsWith(inner) ? outer : outer + ": " + inner)
            .orElseThrow();
    String state = state().map(code -> " (SQLSTATE " + code + ")").orElse("");
    return (messages + state).replaceAll("\\s+", " ");
  }

  private static String messageOf(Throwable link) {
    ServerErrorMessage server =
        link instanceof PSQLException postgres ? postgres.getServerErrorMessage() : null;
    String message = Objects.toString(server == null ? link.getMessage() : server.getMessage(), "");
    if (message.contains("jdbc:")) {
      return "the driver cannot use DATABASE_URL";
    }
    if (link instanceof InterruptedIOException || link instanceof UnknownHostException) {
      return step(link) + message;
    }
    return message.isEmpty() ? link.getClass().getSimpleName() : message;
  }

  /** Returns the step of a connection at which a time-out has passed. */
  private static String step(Throwable timeout) {
    Set<String> methods =
        Arrays.stream(timeout.getStackTrace())
            .map(StackTraceElement::getMethodName)
            .collect(toSet());
    return STEPS.stream()
        .filter(step -> methods.contains(step.getKey()))
        .findFirst()
        .map(step -> step.getValue() + ": ")
        .orElse("");
  }

  private static <T> Stream<T> causes(Throwable wrapper, Class<T> type) {
    return Stream.iterate(wrapper, Objects::nonNull, Throwable::getCause)
        .filter(type::isInstance)
        .map(type::cast);
  }
}
