package org.plantstore.adapter.persistence.database;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Opens connections that can store plants, for the pool and the monitor. A pool that was told of
 * failures would wait longer after each, and overlook that the database is back; so the pool's
 * attempts are repeated here. Safe for use by many threads.
 */
@SuppressWarnings("serial") // only its superclass is meant to be serialized
final class RetryingDataSource extends PGSimpleDataSource {

  private static final long serialVersionUID = 1L;

  private static final Duration PAUSE = Duration.ofMillis(500);

  /**
   * The pause after the account was refused: many servers lock out an account that is tried with a
   * wrong password again and again.
   */
  private static final Duration PAUSE_AFTER_REFUSAL = Duration.ofSeconds(5);

  private final transient DatabaseTimeouts timeouts;

  /** The refusal of the account by the last attempt, or null. */
  private transient volatile @Nullable SQLException refusal;

  /** When the last attempt began, as a value of {@link System#nanoTime()}; guarded by this. */
  private transient long attempted;

  private transient volatile @Nullable String lastFailure;

  RetryingDataSource(DatabaseAccess access, DatabaseTimeouts timeouts) {
    this.timeouts = timeouts;
    access.configure(this, timeouts.login());
  }

  /**
   * Opens a connection for the pool, and retries until that succeeds.
   *
   * @throws SQLException if the thread is interrupted
   */
  @Override
  public Connection getConnection() throws SQLException {
    while (true) {
      try {
        Connection connection = connect();
        lastFailure = null;
        return connection;
      } catch (SQLException e) {
        lastFailure = new PostgresFailure(e).describe();
        LockSupport.parkNanos(PAUSE.toNanos());
        if (Thread.currentThread().isInterrupted()) {
          throw new SQLException("interrupted while waiting for a connection", e);
        }
      }
    }
  }

  /** Returns why the pool's last attempt failed, or null if it succeeded. */
  @Nullable String lastFailure() {
    return lastFailure;
  }

  /**
   * Attempts once to open a connection.
   *
   * @throws SQLException if that fails, or if the account was refused a short time ago
   */
  Connection connect() throws SQLException {
    requireNoRecentRefusal();
    try {
      Connection connection = prepared(super.getConnection(getUser(), getPassword()));
      refusal = null;
      return connection;
    } catch (SQLException e) {
      refusal = new PostgresFailure(e).hasState(PostgresFailure.ACCOUNT_REFUSED) ? e : null;
      throw e;
    }
  }

  private synchronized void requireNoRecentRefusal() throws SQLException {
    SQLException recent = refusal;
    long now = System.nanoTime();
    if (recent != null && now - attempted < PAUSE_AFTER_REFUSAL.toNanos()) {
      throw recent;
    }
    attempted = now;
  }

  private Connection prepared(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(session())) {
      row.next();
      if (row.getBoolean("read_only")) {
        throw new SQLException("the database is read-only", PostgresFailure.READ_ONLY);
      }
      // A server that vanished without a word must not hold a writer for ever.
      connection.setNetworkTimeout(Runnable::run, Math.toIntExact(timeouts.answer().toMillis()));
      return connection;
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
  }

  /**
   * Returns the statement that sets up a session. Where synchronous commit is weaker than on, a
   * crash of the server, or a fail-over to a standby that has to confirm, would lose acknowledged
   * plants (R4); remote_apply is stricter and stays. A role's or a database's own time-outs would
   * end these sessions; not every server has each of them. Warnings report that a commit was not
   * confirmed by a standby.
   */
  private String session() {
    return """
    SELECT set_config('statement_timeout', '%d', false),
           set_config('lock_timeout', '%d', false),
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

  /** Ignored, because the pool would replace the time-out that is set here. */
  @Override
  public void setLoginTimeout(int seconds) {}
}
