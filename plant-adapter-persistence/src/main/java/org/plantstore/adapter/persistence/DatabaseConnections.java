package org.plantstore.adapter.persistence;

import io.micronaut.context.exceptions.ConfigurationException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.plantstore.adapter.persistence.DatabaseSettings.Account;
import org.postgresql.PGProperty;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.ssl.DefaultJavaSSLFactory;

/**
 * Opens connections to the primary, with the current account, and sets up their sessions. Safe for
 * use by many threads.
 */
final class DatabaseConnections extends PGSimpleDataSource {

  private static final long serialVersionUID = 1L;

  private static final Duration ATTEMPTS = Duration.ofSeconds(1);
  private static final Duration PAUSE = Duration.ofMillis(100);

  /**
   * With a weaker synchronous commit than on, a crash or a fail-over would lose acknowledged plants
   * (R4). Warnings report commits that no standby has confirmed. If array_nulls is off, the server
   * reads a plant without a tag as one with the tag NULL. Time-outs that were set for the account
   * or the database would end sessions.
   */
  private static final String SESSION =
      """
      SELECT set_config('statement_timeout', '<statement>ms', false),
             set_config('lock_timeout', '<lock>ms', false),
             set_config('client_min_messages', 'warning', false),
             set_config('array_nulls', 'on', false),
             set_config('synchronous_commit', CASE
               WHEN current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')
               THEN 'on' ELSE current_setting('synchronous_commit') END, false),
             (SELECT count(set_config(name, '0', false)) FROM pg_settings WHERE name IN (
               'transaction_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout'))
      """;

  /** Startup options. The role's own time-outs would end the statement that sets up a session. */
  private static final String UNLIMITED = " -c statement_timeout=0 -c idle_session_timeout=0";

  /** The states in which poolers and servers before version 14 refuse these options. */
  private static final Set<String> OPTIONS_REFUSED = Set.of("08P01", "0A000", "42704");

  private final transient DatabaseSettings settings;
  private final String session;

  /**
   * Creates a data source.
   *
   * @param name the name of the application in {@code pg_stat_activity}
   * @param connect the time-out of an address, and of each answer of a TLS handshake, in seconds
   * @param answer the time-out of each other answer
   */
  DatabaseConnections(
      DatabaseSettings settings,
      String name,
      int connect,
      Duration answer,
      Duration statement,
      Duration lock) {
    this.settings = settings;
    this.session =
        SESSION
            .replace("<statement>", "" + statement.toMillis())
            .replace("<lock>", "" + lock.toMillis());
    setUrl(settings.address.url());
    setOptions(ownOptions() + UNLIMITED);
    setApplicationName(name);
    setTcpKeepAlive(true);
    setConnectTimeout(connect);
    setCancelSignalTimeout(1);
    setSocketTimeout(Math.toIntExact(answer.toSeconds()));
    setTargetServerType("primary");
    // Details quote rows, and a plant's text must not be logged.
    setLogServerErrorDetail(false);
    if (settings.address.value(PGProperty.SSL_ROOT_CERT).equals("system")) {
      setSslMode("verify-full");
      setSslfactory(DefaultJavaSSLFactory.class.getName());
    }
    if (EveryAddress.isFor(settings.address)) {
      setSocketFactory(EveryAddress.class.getName());
    }
  }

  /**
   * Opens a connection. Tries for 1 s, because the pauses of the pool between its attempts would
   * grow to 5 s, during which it would not notice that the database is back. These pauses suffice
   * for an account that is refused.
   *
   * @throws SQLException if that fails
   */
  @Override
  public Connection getConnection() throws SQLException {
    long until = System.nanoTime() + ATTEMPTS.toNanos();
    while (true) {
      Account account = account();
      try {
        return setUp(getConnection(account.username(), account.password()));
      } catch (SQLException e) {
        EveryAddress.tryNext();
        DatabaseFailure failure = new DatabaseFailure(e);
        boolean isOver = System.nanoTime() - until >= 0 || Thread.currentThread().isInterrupted();
        boolean mayRecover = changesOptions(failure) || failure.isWorthWaiting();
        if (isOver || !mayRecover) {
          throw e;
        }
        LockSupport.parkNanos(PAUSE.toNanos());
      }
    }
  }

  private String ownOptions() {
    return settings.address.value(PGProperty.OPTIONS);
  }

  /** Returns whether the startup options were changed, because the server has refused them. */
  private boolean changesOptions(DatabaseFailure failure) {
    String used = getOptions();
    if (failure.isOf("25P04")) { // transaction_timeout, of which only version 17 or later knows
      setOptions(ownOptions() + UNLIMITED + " -c transaction_timeout=0");
    } else if (failure.isOf(OPTIONS_REFUSED)) {
      setOptions(ownOptions().isEmpty() ? null : ownOptions());
    }
    return !Objects.equals(used, getOptions());
  }

  private Account account() throws SQLException {
    try {
      return settings.account();
    } catch (ConfigurationException e) { // of a file
      throw new SQLException(e.getMessage(), "28000");
    }
  }

  private Connection setUp(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(session);
      return connection;
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
  }

  /** Ignores the time-out of the pool, which would end an attempt before all hosts are tried. */
  @Override
  public void setLoginTimeout(int seconds) {}

  /** Returns how long the pool waits at its end for attempts, instead of warning at once. */
  @Override
  public int getLoginTimeout() {
    return 5;
  }
}
