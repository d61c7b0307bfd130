package org.plantstore.adapter.persistence;

import io.micronaut.context.exceptions.ConfigurationException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.DatabaseSettings.Account;
import org.postgresql.PGProperty;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.ssl.DefaultJavaSSLFactory;

/**
 * Opens connections to the primary, with the account as it is then, and sets up their sessions.
 * Safe for use by many threads.
 */
final class DatabaseConnections extends PGSimpleDataSource {

  private static final long serialVersionUID = 1L;

  private static final Duration ATTEMPTS = Duration.ofSeconds(1);
  private static final Duration PAUSE = Duration.ofMillis(100);

  /** Many servers lock an account after some attempts with a wrong password. */
  private static final Duration BACK_OFF_AFTER_REFUSAL = Duration.ofSeconds(5);

  /**
   * With a weaker synchronous commit than on, a crash or a fail-over would lose acknowledged plants
   * (R4). Warnings report commits that no standby has confirmed. Time-outs that were set for the
   * account or the database would end sessions.
   */
  private static final String SESSION =
      """
      SELECT set_config('statement_timeout', '<statement>ms', false),
             set_config('lock_timeout', '<lock>ms', false),
             set_config('client_min_messages', 'warning', false),
             set_config('synchronous_commit', CASE
               WHEN current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')
               THEN 'on' ELSE current_setting('synchronous_commit') END, false),
             (SELECT count(set_config(name, '0', false)) FROM pg_settings WHERE name IN (
               'transaction_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout'))
      """;

  /** An account that the server has refused, and when, as {@link System#nanoTime()}. */
  private record Refusal(Account account, SQLException cause, long at) {}

  private final transient DatabaseSettings settings;
  private final String session;
  private transient volatile @Nullable Refusal refusal;

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
   * grow to seconds, during which it would not notice that the database is back.
   *
   * @throws SQLException if that fails, or if the account was refused less than 5 s ago
   */
  @Override
  public Connection getConnection() throws SQLException {
    long until = System.nanoTime() + ATTEMPTS.toNanos();
    while (true) {
      try {
        return open();
      } catch (SQLException e) {
        boolean isOver = System.nanoTime() - until >= 0 || Thread.currentThread().isInterrupted();
        if (isOver || !new DatabaseFailure(e).isWorthWaiting()) {
          throw e;
        }
        LockSupport.parkNanos(PAUSE.toNanos());
      }
    }
  }

  /** Opens a connection, or another one with an account that has changed meanwhile. */
  private Connection open() throws SQLException {
    try {
      Account account = settings.account();
      try {
        return connect(account);
      } catch (SQLException e) {
        if (refusal == null || account.equals(settings.account())) {
          throw e;
        }
        return connect(settings.account());
      }
    } catch (ConfigurationException e) {
      throw new SQLException(e.getMessage(), "28000");
    }
  }

  private Connection connect(Account account) throws SQLException {
    Refusal last = refusal;
    if (last != null
        && last.account.equals(account)
        && System.nanoTime() - last.at < BACK_OFF_AFTER_REFUSAL.toNanos()) {
      throw new SQLException(last.cause.getMessage(), last.cause.getSQLState(), last.cause);
    }
    refusal = null;
    try {
      String password = account.password().isEmpty() ? null : account.password();
      return setUp(getConnection(account.username(), password));
    } catch (SQLException e) {
      EveryAddress.tryNext();
      if (new DatabaseFailure(e).hasState(DatabaseFailure.ACCOUNT)) {
        refusal = new Refusal(account, e, System.nanoTime());
      }
      throw e;
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

  /** Ignored, because the pool's would end an attempt before the other hosts are tried. */
  @Override
  public void setLoginTimeout(int seconds) {}
}
