package org.plantstore.adapter.persistence.database;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Lets others get their connections from a connector.
 *
 * @param connector what opens the connections
 * @param patience how long it tries to
 * @param held until this is zero, they wait
 */
public record ConnectorDataSource(Connector connector, Duration patience, CountDownLatch held)
    implements DataSource {

  @Override
  public Connection getConnection() throws SQLException {
    try {
      held.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SQLException("interrupted while waiting for a connection", e);
    }
    return connector.open(patience);
  }

  /** The account is the connector's. */
  @Override
  public Connection getConnection(String username, String password) throws SQLException {
    return getConnection();
  }

  /** Also how long a pool that is closed waits for an attempt to end, in seconds. */
  @Override
  public int getLoginTimeout() {
    return 1;
  }

  @Override
  public void setLoginTimeout(int seconds) {
    // The connector knows its time-outs.
  }

  @Override
  public @Nullable PrintWriter getLogWriter() {
    return null;
  }

  @Override
  public void setLogWriter(@Nullable PrintWriter writer) {
    // What matters comes as an exception.
  }

  @Override
  public Logger getParentLogger() throws SQLFeatureNotSupportedException {
    throw new SQLFeatureNotSupportedException();
  }

  @Override
  public <T> T unwrap(Class<T> type) throws SQLException {
    if (type.isInstance(this)) {
      return type.cast(this);
    }
    throw new SQLException("this is no " + type.getName());
  }

  @Override
  public boolean isWrapperFor(Class<?> type) {
    return type.isInstance(this);
  }
}
