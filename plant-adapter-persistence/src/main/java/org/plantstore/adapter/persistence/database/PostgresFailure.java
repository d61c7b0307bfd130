package org.plantstore.adapter.persistence.database;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/** A failure of the driver or the pool, classified by its SQLSTATE. */
public record PostgresFailure(SQLException cause) {

  /** The class of a wrong name or password, and of an account that may not log in. */
  public static final String ACCOUNT_REFUSED = "28";

  /** The state of a standby, and of an account with read-only transactions. */
  public static final String READ_ONLY = "25006";

  /** The state of a cancelled statement, and of a commit that no standby has confirmed. */
  public static final String CANCELED = "57014";

  /** States and classes of a server that cannot write: read-only, no resources, shutdown, disk. */
  private static final Set<String> CANNOT_WRITE = Set.of(READ_ONLY, "53", "57P", "58");

  /**
   * Transient states and classes: connection, account, read-only, transaction timeouts, missing
   * database, concurrency, resources, locks, operator, system.
   */
  private static final Set<String> TRANSIENT =
      Set.of("08", "28", "25006", "25P03", "25P04", "3D", "40", "53", "55", "57", "58");

  /** Returns the failure that a framework has wrapped, if there is one. */
  public static Optional<PostgresFailure> in(Throwable wrapper) {
    return causes(wrapper, SQLException.class).map(PostgresFailure::new).findFirst();
  }

  /** Returns whether the failure is transient. Without SQLSTATE, it is a time-out of the pool. */
  public boolean isTransient() {
    return state().isEmpty() || TRANSIENT.stream().anyMatch(this::hasState);
  }

  /**
   * Returns whether the server reports the failure of another server, such as a worker of Citus,
   * whose failures carry the name of a routine. The connection can still be used.
   */
  public boolean isOfAnotherServer() {
    boolean isOfConnection = hasState("08") && !hasState("08P01"); // a pooler closes with 08P01
    return causes(cause, PSQLException.class)
        .map(PSQLException::getServerErrorMessage)
        .filter(Objects::nonNull)
        .anyMatch(message ->
            isOfConnection
                || ("ReportResultError".equals(message.getRoutine())
                    && CANNOT_WRITE.stream().anyMatch(this::hasState)));
  }

  /**
   * Returns whether the driver cannot use its parameters, or does not trust the server, so that
   * waiting does not help: the failure is neither the network's nor the server's.
   */
  public boolean isOfParameters() {
    Throwable root = causes(cause, Throwable.class).reduce((outer, inner) -> inner).orElseThrow();
    boolean isOfFile = root instanceof FileNotFoundException || root instanceof FileSystemException;
    boolean isOfNetwork = root instanceof IOException && !isOfFile;
    boolean isOfServer =
        root instanceof PSQLException driver && driver.getServerErrorMessage() != null;
    return hasState("08006") && !isOfNetwork && !isOfServer;
  }

  /** Returns one line, without details, which would quote rows. */
  public String describe() {
    String messages =
        causes(cause, Throwable.class)
            .map(PostgresFailure::messageOf)
            .reduce((outer, inner) -> outer.endsWith(inner) ? outer : outer + ": " + inner)
            .orElseThrow();
    String state = state().map(code -> " (SQLSTATE " + code + ")").orElse("");
    return (messages + state).replaceAll("\\s+", " ");
  }

  private static String messageOf(Throwable link) {
    ServerErrorMessage server =
        link instanceof PSQLException postgres ? postgres.getServerErrorMessage() : null;
    String message = server == null ? link.getMessage() : server.getMessage();
    return message == null ? link.getClass().getSimpleName() : message;
  }

  /** Returns whether the failure has this state, or is of this class of states. */
  public boolean hasState(String stateOrClass) {
    return state().filter(state -> state.startsWith(stateOrClass)).isPresent();
  }

  /** Returns the innermost state: a pool wraps the driver's exception in its own. */
  private Optional<String> state() {
    return causes(cause, SQLException.class)
        .map(SQLException::getSQLState)
        .filter(Objects::nonNull)
        .reduce((outer, inner) -> inner);
  }

  private static <T> Stream<T> causes(Throwable wrapper, Class<T> type) {
    return Stream.iterate(wrapper, Objects::nonNull, Throwable::getCause)
        .filter(type::isInstance)
        .map(type::cast);
  }
}
