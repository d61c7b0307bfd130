package org.plantstore.adapter.persistence.database;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.SQLExceptionOverride;
import io.micronaut.configuration.jdbc.hikari.DatasourceConfiguration;
import io.micronaut.context.BeanProvider;
import io.micronaut.context.annotation.Property;
import io.micronaut.context.env.Environment;
import io.micronaut.context.event.BeanCreatedEvent;
import io.micronaut.context.event.BeanCreatedEventListener;
import jakarta.inject.Singleton;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Sets what properties cannot set, and what they must not change. Safe for use by many threads. */
@Singleton
public final class ConnectionPool implements BeanCreatedEventListener<DatasourceConfiguration> {

  public static final String CONNECTIONS = "database.connections";

  private final DatabaseTimeouts timeouts;
  private final RetryingDataSource connections;
  private final BeanProvider<DataSource> dataSource;
  private final int maximum;

  ConnectionPool(
      Environment environment,
      DatabaseTimeouts timeouts,
      BeanProvider<DataSource> dataSource,
      @Property(name = CONNECTIONS) int connections) {
    this.timeouts = timeouts;
    this.connections = new RetryingDataSource(DatabaseAccess.of(environment), timeouts);
    this.dataSource = dataSource;
    this.maximum = connections - 1;
  }

  /** Returns the largest number of connections, beside the monitor's. */
  public int maximum() {
    return maximum;
  }

  /** Changes the number of connections that may be opened when those that are open are in use. */
  public void resize(int connections) {
    try {
      dataSource.get().unwrap(HikariDataSource.class).setMaximumPoolSize(connections);
    } catch (SQLException e) {
      throw new IllegalStateException("the pool is another one", e);
    }
  }

  @Override
  public DatasourceConfiguration onCreated(BeanCreatedEvent<DatasourceConfiguration> event) {
    DatasourceConfiguration pool = event.getBean();
    pool.setDataSource(connections);
    // With a user name, the pool would call a method that does not set up the session.
    pool.setUsername(null);
    // Each statement commits by itself, so that the answer follows the commit.
    pool.setAutoCommit(true);
    // Otherwise the pool asks its first connection, and fails for ever if that breaks meanwhile.
    pool.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
    pool.setConnectionTimeout(timeouts.create().toMillis());
    pool.setValidationTimeout(timeouts.signOfLife().toMillis());
    pool.setExceptionOverride(new Eviction());
    return pool;
  }

  RetryingDataSource connections() {
    return connections;
  }

  /**
   * Evicts connections that lead to a standby since a fail-over, and none because of a server
   * behind the one that answers.
   */
  private static final class Eviction implements SQLExceptionOverride {

    @java.lang.Override
    public SQLExceptionOverride.Override adjudicate(SQLException failure) {
      if (new PostgresFailure(failure).isPassedOn()) {
        return SQLExceptionOverride.Override.DO_NOT_EVICT;
      }
      return PostgresFailure.READ_ONLY.equals(failure.getSQLState())
          ? SQLExceptionOverride.Override.MUST_EVICT
          : SQLExceptionOverride.Override.CONTINUE_EVICT;
    }
  }
}
