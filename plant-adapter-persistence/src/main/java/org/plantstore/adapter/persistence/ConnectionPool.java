package org.plantstore.adapter.persistence;

import com.zaxxer.hikari.SQLExceptionOverride;
import io.micronaut.configuration.jdbc.hikari.DatasourceConfiguration;
import io.micronaut.context.annotation.Property;
import io.micronaut.context.event.BeanCreatedEvent;
import io.micronaut.context.event.BeanCreatedEventListener;
import jakarta.inject.Singleton;
import java.sql.SQLException;

/** Sets the pool's properties that have no setting, or whose settings must have no effect. */
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
    // With a user name, the pool would call getConnection(user, password), without set-up.
    pool.setUsername(null);
    // The start has already found the database.
    pool.setInitializationFailTimeout(-1);
    // The driver's own check costs no statement; Micronaut would add one.
    pool.setConnectionTestQuery(null);
    // Each statement commits by itself, so that the answer follows the commit.
    pool.setAutoCommit(true);
    // Otherwise HikariCP asks its first connection, and does not recover if that one breaks.
    pool.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
    int connections = PostgresPlantStore.WRITERS + 1; // and the probe's
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
        settings.deadline.plusSeconds(1), // before, the server is asked to cancel a statement
        settings.statementTimeout,
        settings.deadline.dividedBy(5));
  }

  /**
   * Keeps a connection whose server reports that another server has failed, such as a worker of
   * Citus. Evicts a connection to a server that has become read-only, and one whose session may be
   * the cause of a failure, because the role's search_path or another setting was changed.
   */
  static final class Eviction implements SQLExceptionOverride {

    @java.lang.Override
    public SQLExceptionOverride.Override adjudicate(SQLException cause) {
      DatabaseFailure failure = new DatabaseFailure(cause);
      if (failure.isOf(DatabaseFailure.OF_SESSION)) {
        return SQLExceptionOverride.Override.MUST_EVICT;
      }
      // A pooler closes with 08P01.
      return failure.isOfServer() && failure.isOf("08") && !failure.isOf("08P01")
          ? SQLExceptionOverride.Override.DO_NOT_EVICT
          : SQLExceptionOverride.Override.CONTINUE_EVICT;
    }
  }
}
