package org.plantstore.adapter.persistence;

import io.micronaut.context.exceptions.ConfigurationException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.DatabaseSettings.Credentials;
import org.postgresql.PGProperty;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.ssl.DefaultJavaSSLFactory;

/**
 * Opens connections to the primary with the current credentials, and sets up their sessions. This
 * class is thread-safe.
 */
final class DatabaseConnections extends PGSimpleDataSource {

  private static final long serialVersionUID = 1L;

  private static final Duration RETRY_LIMIT = Duration.ofSeconds(1);
  private static final Duration RETRY_PAUSE = Duration.ofMillis(100);

  /**
   * A statement that overrides role and database settings. If synchronous_commit were weaker than
   * on, a crash or failover would lose acknowledged plants (R4). Warnings must be enabled, because
   * they report commits that no standby has confirmed. If array_nulls were off, the server would
   * store the text NULL as the tag of a plant without a tag. Timeouts that could end the session
   * are disabled.
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

  /** Startup options that prevent the role's timeouts from interrupting session setup. */
  private static final String UNLIMITED = " -c statement_timeout=0 -c idle_session_timeout=0";

  /**
   * The SQLSTATEs with which some poolers, and servers older than PostgreSQL 14, reject startup
   * options.
   */
  private static final Set<String> OPTIONS_REJECTED = Set.of("08P01", "0A000", "42704");

  private final transient DatabaseSettings settings;
  private final String session;

  /**
   * Creates a data source.
   *
   * @param name the application name in {@code pg_stat_activity}
   * @param connect the timeout, in seconds, for connecting to an address and for each response
   *     during a TLS handshake
   * @param response the timeout for any other server response
   */
  DatabaseConnections(
      DatabaseSettings settings,
      String name,
      int connect,
      Duration response,
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
    setSocketTimeout(Math.toIntExact(response.toSeconds()));
    setTargetServerType("primary");
    // Error details may quote a row, but a plant's text must not be logged.
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
   * Opens a connection. If the failure may be temporary, this method retries for 1 s. Without these
   * retries, recovery would take longer, because the pool pauses for up to 5 s between its own
   * attempts. If the server rejects the credentials, this method does not retry, but the pool does.
   *
   * @throws SQLException if no connection can be opened
   */
  @Override
  public Connection getConnection() throws SQLException {
    long until = System.nanoTime() + RETRY_LIMIT.toNanos();
    while (true) {
      Credentials credentials = credentials();
      String options = getOptions();
      try {
        return setUp(getConnection(credentials.username(), credentials.password()));
      } catch (SQLException e) {
        EveryAddress.tryNext();
        DatabaseFailure failure = new DatabaseFailure(e);
        boolean isOver = System.nanoTime() - until >= 0 || Thread.currentThread().isInterrupted();
        boolean mayRecover = changeOptions(options, failure) || failure.isWorthWaiting();
        if (isOver || !mayRecover) {
          throw e;
        }
        LockSupport.parkNanos(RETRY_PAUSE.toNanos());
      }
    }
  }

  private String ownOptions() {
    return settings.address.value(PGProperty.OPTIONS);
  }

  /**
   * Replaces startup options that the server rejected. Returns whether the options have changed
   * since the failed attempt, including changes made by other threads.
   */
  boolean changeOptions(@Nullable String used, DatabaseFailure failure) {
    if (failure.hasState("25P04")) { // transaction_timeout, which PostgreSQL 17 introduced
      setOptions(ownOptions() + UNLIMITED + " -c transaction_timeout=0");
    } else if (failure.hasState(OPTIONS_REJECTED)) {
      setOptions(ownOptions().isEmpty() ? null : ownOptions());
    }
    return !Objects.equals(used, getOptions());
  }

  private Credentials credentials() throws SQLException {
    try {
      return settings.credentials();
    } catch (ConfigurationException e) { // a credentials file cannot be used
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

  /** Ignores the pool's timeout, which would end an attempt before all hosts have been tried. */
  @Override
  public void setLoginTimeout(int seconds) {}

  /** Returns how many seconds a closing pool waits for its connection attempts to end. */
  @Override
  public int getLoginTimeout() {
    return 5;
  }
}
