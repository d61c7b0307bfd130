package org.plantstore.adapter.persistence;

import com.zaxxer.hikari.SQLExceptionOverride;
import io.micronaut.configuration.jdbc.hikari.DatasourceConfiguration;
import io.micronaut.context.annotation.Property;
import io.micronaut.context.event.BeanCreatedEvent;
import io.micronaut.context.event.BeanCreatedEventListener;
import jakarta.inject.Singleton;
import java.sql.SQLException;

/** Configures the connection pool, and overrides the framework's settings for it. */
@Singleton
final class ConnectionPool implements BeanCreatedEventListener<DatasourceConfiguration> {

  private final DatabaseSettings settings;
  private final boolean hasCitus;

  ConnectionPool(DatabaseSettings settings, @Property(name = Shards.HAS_CITUS) boolean hasCitus) {
    this.settings = settings;
    this.hasCitus = hasCitus;
  }

  @Override
  public DatasourceConfiguration onCreated(BeanCreatedEvent<DatasourceConfiguration> event) {
    DatasourceConfiguration pool = event.getBean();
    pool.setDataSource(connections(settings));
    // If a user name is set, the pool calls getConnection(user, password), which does not set up
    // the session.
    pool.setUsername(null);
    // Startup has already checked that the database is available.
    pool.setInitializationFailTimeout(-1);
    // Removes Micronaut's test query, because the driver can test a connection without a statement.
    pool.setConnectionTestQuery(null);
    // Each statement commits by itself, so that callers receive a response only after the commit.
    pool.setAutoCommit(true);
    // Otherwise, HikariCP queries this level and does not recover if its first connection fails.
    pool.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
    int connections = PostgresPlantStore.WRITERS + 1; // one for the probe
    pool.setMaximumPoolSize(hasCitus ? settings.connections : connections);
    pool.setMinimumIdle(connections);
    pool.setValidationTimeout(500);
    pool.setConnectionTimeout(settings.deadline.toMillis());
    pool.setExceptionOverride(new Eviction());
    return pool;
  }

  static DatabaseConnections connections(DatabaseSettings settings) {
    return new DatabaseConnections(
        settings,
        "plant-store",
        1,
        settings.deadline.plusSeconds(1), // leaves time to ask the server to cancel a statement
        settings.statementTimeout,
        settings.deadline.dividedBy(5));
  }

  /**
   * Decides whether a connection is evicted after a failure. A connection is kept if its server
   * reports that another server has failed, such as a Citus worker. A connection is evicted if its
   * server has become read-only, or if its session may have caused the failure because the role's
   * search_path or another setting was changed.
   */
  static final class Eviction implements SQLExceptionOverride {

    @java.lang.Override
    public SQLExceptionOverride.Override adjudicate(SQLException cause) {
      DatabaseFailure failure = new DatabaseFailure(cause);
      if (failure.isOf(DatabaseFailure.OF_SESSION)) {
        return SQLExceptionOverride.Override.MUST_EVICT;
      }
      // A pooler sends 08P01 when it closes a connection.
      return failure.isOfServer() && failure.isOf("08") && !failure.isOf("08P01")
          ? SQLExceptionOverride.Override.DO_NOT_EVICT
          : SQLExceptionOverride.Override.CONTINUE_EVICT;
    }
  }
}
