package org.plantstore.adapter.persistence.database;

import io.micronaut.context.env.Environment;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Opens connections that can store plants, and goes on trying while that fails. An attempt begins
 * every half second, whether the earlier ones have failed or still wait for a host that says
 * nothing: so a database that returns, perhaps elsewhere, is found at once, and one that is slow
 * has its time all the same. Safe for use by many threads.
 */
@Singleton
public final class Connector implements AutoCloseable {

  private static final Duration PAUSE = Duration.ofMillis(500);

  /**
   * A refused account is tried less often: many servers lock out an account that is tried with a
   * wrong password again and again.
   */
  private static final Duration PAUSE_AFTER_REFUSAL = Duration.ofSeconds(5);

  /** Attempts that a host neither accepts nor refuses do not pile up without end. */
  private static final int MAX_ATTEMPTS = 16;

  private final DatabaseAccess access;
  private final DatabaseTimeouts timeouts;
  private final Semaphore attempts = new Semaphore(MAX_ATTEMPTS);
  private final ExecutorService executor =
      Executors.newCachedThreadPool(attempt -> {
        Thread thread = new Thread(attempt, "database-connector");
        thread.setDaemon(true);
        return thread;
      });

  private volatile @Nullable String trouble;

  /** Whether the account was refused, which most likely lasts. */
  private volatile boolean isRefused;

  /** When the next attempt may begin after a refusal, as a value of {@link System#nanoTime()}. */
  private final AtomicLong afterRefusal = new AtomicLong();

  private volatile boolean closed;

  @Inject
  Connector(Environment environment, DatabaseTimeouts timeouts) {
    this(DatabaseAccess.of(environment), timeouts);
  }

  Connector(DatabaseAccess access, DatabaseTimeouts timeouts) {
    this.access = access;
    this.timeouts = timeouts;
  }

  /**
   * Opens a connection.
   *
   * @param patience how long it is tried
   * @throws SQLException if no attempt succeeds in that time, or this is closed meanwhile; its
   *     message says why the last attempt that has ended failed
   */
  Connection open(Duration patience) throws SQLException {
    CompletableFuture<Connection> opened = new CompletableFuture<>();
    long began = System.nanoTime();
    try {
      do {
        begin(opened);
      } while (!isDoneAfterPause(opened)
          && !closed
          && System.nanoTime() - began < patience.toNanos());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (opened.cancel(false)) {
      throw new SQLException(trouble == null ? "no host has answered in time" : trouble, "08001");
    }
    return opened.join();
  }

  private static boolean isDoneAfterPause(CompletableFuture<Connection> opened)
      throws InterruptedException {
    try {
      opened.get(PAUSE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      return false;
    }
    return true;
  }

  /** Answers why the last attempt failed; null if it succeeded, or there was none. */
  public @Nullable String trouble() {
    return trouble;
  }

  private void begin(CompletableFuture<Connection> opened) {
    if (mayBegin() && attempts.tryAcquire()) {
      try {
        executor.execute(() -> attempt(opened));
      } catch (RuntimeException | Error e) {
        attempts.release();
        throw e;
      }
    }
  }

  private boolean mayBegin() {
    if (!isRefused) {
      return true;
    }
    long now = System.nanoTime();
    long earliest = afterRefusal.get();
    return now - earliest >= 0
        && afterRefusal.compareAndSet(earliest, now + PAUSE_AFTER_REFUSAL.toNanos());
  }

  private void attempt(CompletableFuture<Connection> opened) {
    try {
      Connection connection = connect();
      trouble = null;
      isRefused = false;
      if (!opened.complete(connection)) {
        connection.close(); // another attempt was faster
      }
    } catch (SQLException e) {
      PostgresFailure failure = new PostgresFailure(e);
      blame(opened, failure.describe());
      if (failure.hasState(PostgresFailure.ACCOUNT_REFUSED)) {
        afterRefusal.set(System.nanoTime() + PAUSE_AFTER_REFUSAL.toNanos());
        isRefused = true;
      } else {
        isRefused = false;
      }
    } catch (RuntimeException e) {
      blame(opened, String.valueOf(e));
    } finally {
      attempts.release();
    }
  }

  /** An attempt that fails after a later one has succeeded says nothing about now. */
  private void blame(CompletableFuture<Connection> opened, String reason) {
    if (!opened.isDone()) {
      trouble = reason;
    }
  }

  private Connection connect() throws SQLException {
    Connection connection = DriverManager.getConnection(access.url(), driverProperties());
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
   * Where synchronous commit is weaker than on, a crash of the server, or a fail-over to a standby
   * that has to confirm, would lose acknowledged plants (R4); remote_apply is stricter and stays. A
   * role's or a database's own time-outs would end these sessions; not every server has each of
   * them. Warnings tell that a commit was not confirmed by a standby.
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

  private Properties driverProperties() {
    Properties properties = new Properties();
    properties.setProperty("user", access.username());
    properties.setProperty("password", access.password());
    properties.setProperty("ApplicationName", "plant-store");
    properties.setProperty("connectTimeout", String.valueOf(timeouts.signOfLife().toSeconds()));
    // Attempts at a host that accepts and then says nothing must not use up all there may be.
    properties.setProperty("socketTimeout", String.valueOf(timeouts.attempt().toSeconds()));
    properties.setProperty(
        "cancelSignalTimeout", String.valueOf(timeouts.signOfLife().toSeconds()));
    properties.setProperty("tcpKeepAlive", "true");
    // Details quote rows, and a plant's text has no place in a log.
    properties.setProperty("logServerErrorDetail", "false");
    return properties;
  }

  /** Gives up what is being tried. */
  @Override
  @PreDestroy
  public void close() {
    closed = true;
    executor.shutdown();
  }
}
