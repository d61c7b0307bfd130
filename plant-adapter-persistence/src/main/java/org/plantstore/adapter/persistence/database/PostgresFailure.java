package org.plantstore.adapter.persistence.database;

import java.io.FileNotFoundException;
import java.security.GeneralSecurityException;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/**
 * A failure of the database, classified by its SQLSTATE (PostgreSQL documentation, appendix
 * "PostgreSQL Error Codes").
 *
 * @param cause what the driver or the pool threw
 */
public record PostgresFailure(SQLException cause) {

  /** The class of connections that cannot be opened or are broken. */
  private static final String CONNECTION = "08";

  /** What Citus names as the source of a worker's failure. */
  private static final String RELAY = "ReportResultError";

  /** What the driver names, in all its languages, if the certificate is that of another host. */
  private static final String HOST_CHECK = "PgjdbcHostnameVerifier";

  /** What a pooler sends before it closes a connection. */
  private static final String POOLER = "08P01";

  /** The class of a wrong name or password, and of an account that may not log in. */
  public static final String ACCOUNT_REFUSED = "28";

  /** The state of a server that has become a standby. */
  public static final String READ_ONLY = "25006";

  /** What keeps a server from writing anything: no resources, a stop or start, its system. */
  private static final Set<String> OF_SERVER = Set.of(READ_ONLY, "53", "57P", "58");

  /** The state of a statement that is cancelled, also because no standby confirms it. */
  public static final String CANCELED = "57014";

  /**
   * Transient states and classes of them: connection, authorization, missing database, rollback by
   * concurrency, resources, locks, operator, system; also transactions that time out.
   */
  private static final Set<String> TRANSIENT =
      Set.of(
          CONNECTION,
          ACCOUNT_REFUSED,
          READ_ONLY,
          "25P03",
          "25P04",
          "3D",
          "40",
          "53",
          "55",
          "57",
          "58");

  /**
   * Returns the failure of the driver or the pool that a framework has wrapped, if there is one.
   */
  public static Optional<PostgresFailure> in(Throwable wrapper) {
    return causes(wrapper, SQLException.class).map(PostgresFailure::new).findFirst();
  }

  /** Returns whether the failure is transient. */
  public boolean isTransient() {
    // The pool's own time-out has no state.
    return state().isEmpty() || TRANSIENT.stream().anyMatch(this::hasState);
  }

  /**
   * Returns whether the server reports that another server behind it failed; the connection to this
   * one can still be used.
   */
  public boolean isPassedOn() {
    return causes(cause, PSQLException.class)
        .map(PSQLException::getServerErrorMessage)
        .filter(Objects::nonNull)
        .anyMatch(message ->
            (hasState(CONNECTION) && !hasState(POOLER))
                || (RELAY.equals(message.getRoutine())
                    && OF_SERVER.stream().anyMatch(this::hasState)));
  }

  /**
   * Returns whether the server's certificate is not trusted, or not that of the host, or whether
   * what it is checked with cannot be read.
   */
  public boolean isOfCertificate() {
    return causes(cause, Throwable.class)
        .anyMatch(link ->
            link instanceof GeneralSecurityException
                || link instanceof FileNotFoundException
                || String.valueOf(link.getMessage()).contains(HOST_CHECK));
  }

  /** Returns the failure in one line, without details, which would quote rows. */
  public String describe() {
    String messages =
        causes(cause, Throwable.class)
            .map(PostgresFailure::messageOf)
            .reduce((outer, inner) -> outer.endsWith(inner) ? outer : outer + ": " + inner)
            .orElseThrow();
    String state = state().map(" (SQLSTATE %s)"::formatted).orElse("");
    return (messages + state).replaceAll("\\s+", " ");
  }

  private static String messageOf(Throwable link) {
    ServerErrorMessage server =
        link instanceof PSQLException postgres ? postgres.getServerErrorMessage() : null;
    String message = server == null ? link.getMessage() : server.getMessage();
    return message == null ? link.getClass().getSimpleName() : message;
  }

  /** Returns whether the state is this one, or of this class. */
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
