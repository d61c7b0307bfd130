package org.plantstore.adapter.persistence.database;

import io.micronaut.data.connection.jdbc.advice.DelegatingDataSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Opens connections that can store plants, for the pool and the monitor. The pool's attempts are
 * retried here, because the back-off of HikariCP grows to seconds, during which it does not notice
 * that the database is back. Safe for use by many threads.
 */
final class RetryingDataSource extends DelegatingDataSource {

  private static final Duration BACK_OFF = Duration.ofMillis(500);

  /** Many servers lock an account after some attempts with a wrong password. */
  private static final Duration BACK_OFF_AFTER_REFUSAL = Duration.ofSeconds(5);

  private final DatabaseTimeouts timeouts;

  private final DatabaseAccess access;

  /** The refusal of the account by the last attempt, or null. */
  private volatile @Nullable Refusal refusal;

  /** When the last attempt began, as nanoTime; guarded by this. */
  private long attempted;

  private volatile @Nullable String lastFailure;

  RetryingDataSource(DatabaseAccess access, DatabaseTimeouts timeouts) {
    super(access.dataSource(timeouts.login()));
    this.access = access;
    this.timeouts = timeouts;
  }

  private record Refusal(SQLException cause, String password) {}

  /**
   * Opens a connection for the pool, and retries until that succeeds.
   *
   * @throws SQLException if the thread is interrupted
   */
  @Override
  public Connection getConnection() throws SQLException {
    while (true) {
      try {
        Connection connection = attempt();
        lastFailure = null;
        return connection;
      } catch (SQLException e) {
        lastFailure = new PostgresFailure(e).describe();
        LockSupport.parkNanos(BACK_OFF.toNanos());
        if (Thread.currentThread().isInterrupted()) {
          throw new SQLException("interrupted while waiting for a connection", e);
        }
      }
    }
  }

  /** Returns the failure of the pool's last attempt, or null if it succeeded. */
  @Nullable String lastFailure() {
    return lastFailure;
  }

  /**
   * Attempts once to open a connection.
   *
   * @throws SQLException if that fails, or if the same password was refused less than 5 s ago
   */
  Connection attempt() throws SQLException {
    String password = access.password().now();
    synchronized (this) {
      Refusal recent = refusal;
      long now = System.nanoTime();
      if (recent != null
          && recent.password.equals(password)
          && now - attempted < BACK_OFF_AFTER_REFUSAL.toNanos()) {
        SQLException cause = recent.cause;
        throw new SQLException(cause.getMessage(), cause.getSQLState(), cause);
      }
      attempted = now;
    }
    try {
      Connection connection = prepared(super.getConnection());
      refusal = null;
      return connection;
    } catch (SQLException e) {
      boolean isOfAccount = new PostgresFailure(e).hasState(PostgresFailure.ACCOUNT_REFUSED);
      refusal = isOfAccount ? new Refusal(e, password) : null;
      throw e;
    }
  }

  private Connection prepared(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(session())) {
      row.next();
      if (row.getBoolean("read_only")) {
        throw new SQLException("the database is read-only", PostgresFailure.READ_ONLY);
      }
      connection.setNetworkTimeout(Runnable::run, Math.toIntExact(timeouts.socket().toMillis()));
      return connection;
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
  }

  /**
   * Returns the statement that sets up a session. With a weaker synchronous commit than on, a crash
   * or a fail-over would lose acknowledged plants (R4). Warnings report commits that no standby has
   * confirmed. Time-outs that were set for the account or the database would end sessions.
   */
  private String session() {
    return """
    SELECT set_config('statement_timeout', '%s', false),
           set_config('lock_timeout', '%s', false),
           set_config('client_min_messages', 'warning', false),
           set_config('synchronous_commit', CASE
             WHEN current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')
             THEN 'on' ELSE current_setting('synchronous_commit') END, false),
           (SELECT count(set_config(name, '0', false)) FROM pg_settings WHERE name IN (
             'transaction_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout')),
           current_setting('transaction_read_only') = 'on' AS read_only
    """
        .formatted(timeouts.statement().toMillis(), timeouts.lock().toMillis());
  }

  /** Ignored, because the pool would replace the login timeout of {@link DatabaseAccess}. */
  @Override
  public void setLoginTimeout(int seconds) {}
}
