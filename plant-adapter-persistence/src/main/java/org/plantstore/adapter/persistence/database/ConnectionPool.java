package org.plantstore.adapter.persistence.database;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.SQLExceptionOverride;
import io.micronaut.configuration.jdbc.hikari.DatasourceConfiguration;
import io.micronaut.context.BeanProvider;
import io.micronaut.context.annotation.Property;
import io.micronaut.context.env.Environment;
import io.micronaut.context.event.BeanCreatedEvent;
import io.micronaut.context.event.BeanCreatedEventListener;
import io.micronaut.data.connection.jdbc.advice.DelegatingDataSource;
import jakarta.inject.Singleton;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/** The pool of connections for plants. Safe for use by many threads. */
@Singleton
public final class ConnectionPool implements BeanCreatedEventListener<DatasourceConfiguration> {

  public static final String CONNECTIONS = "database.connections";

  /** The setting of the deadline of a create, in seconds. */
  public static final String DEADLINE = "database.timeout.seconds";

  final DatabaseTimeouts timeouts;
  final RetryingDataSource source;
  private final BeanProvider<DataSource> dataSource;
  private final int connections;

  ConnectionPool(
      Environment environment,
      BeanProvider<DataSource> dataSource,
      @Property(name = DEADLINE) int seconds,
      @Property(name = CONNECTIONS) int connections) {
    this.timeouts = new DatabaseTimeouts(Duration.ofSeconds(seconds));
    this.source = new RetryingDataSource(DatabaseAccess.of(environment), timeouts);
    this.dataSource = dataSource;
    this.connections = connections;
  }

  /** Returns the largest number of connections for plants: all but the monitor's. */
  public int maximum() {
    return connections - 1;
  }

  /** Sets the number of connections that may be open, up to the maximum. */
  public void resize(int number) {
    pool().setMaximumPoolSize(Math.min(number, maximum()));
  }

  /** Sets properties that have no setting, or whose settings must have no effect. */
  @Override
  public DatasourceConfiguration onCreated(BeanCreatedEvent<DatasourceConfiguration> event) {
    DatasourceConfiguration pool = event.getBean();
    pool.setDataSource(source);
    // With a user name, the pool would call getConnection(user, password), without set-up.
    pool.setUsername(null);
    // Each statement commits by itself, so that the answer follows the commit.
    pool.setAutoCommit(true);
    // Otherwise HikariCP asks its first connection, and does not recover if that one breaks.
    pool.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
    pool.setConnectionTimeout(timeouts.deadline().toMillis());
    pool.setValidationTimeout(DatabaseTimeouts.PROBE.toMillis());
    pool.setExceptionOverride(new Eviction());
    return pool;
  }

  HikariDataSource pool() {
    return (HikariDataSource) DelegatingDataSource.unwrapDataSource(dataSource.get());
  }

  /** Evicts connections to a standby, but none because of the failure of another server. */
  private static final class Eviction implements SQLExceptionOverride {

    @java.lang.Override
    public SQLExceptionOverride.Override adjudicate(SQLException cause) {
      PostgresFailure failure = new PostgresFailure(cause);
      if (failure.isOfAnotherServer()) {
        return SQLExceptionOverride.Override.DO_NOT_EVICT;
      }
      return failure.hasState(PostgresFailure.READ_ONLY)
          ? SQLExceptionOverride.Override.MUST_EVICT
          : SQLExceptionOverride.Override.CONTINUE_EVICT;
    }
  }
}
