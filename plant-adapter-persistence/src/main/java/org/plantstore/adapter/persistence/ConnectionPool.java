package org.plantstore.adapter.persistence;

import com.zaxxer.hikari.SQLExceptionOverride;
import io.micronaut.configuration.jdbc.hikari.DatasourceConfiguration;
import io.micronaut.context.annotation.Property;
import io.micronaut.context.event.BeanCreatedEvent;
import io.micronaut.context.event.BeanCreatedEventListener;
import jakarta.inject.Singleton;
import java.sql.SQLException;
import java.util.Set;

/** Configures the connection pool by overriding the framework's settings. */
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
    // Skips the pool's own check, because startup has already verified that the database works.
    pool.setInitializationFailTimeout(-1);
    // Removes Micronaut's test query, so that the pool calls the driver's isValid() instead.
    pool.setConnectionTestQuery(null);
    // In autocommit mode, each statement is its own transaction, so the result of a statement
    // arrives only after the commit.
    pool.setAutoCommit(true);
    // Without this setting, HikariCP would query the isolation level itself, and would not recover
    // if its first connection failed.
    pool.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
    int connections = PostgresPlantStore.WRITERS + 1; // one more for the readiness probe
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
        settings.deadline.plusSeconds(1), // leaves time to cancel a statement
        settings.statementTimeout,
        settings.deadline.dividedBy(5));
  }

  /**
   * Decides whether the pool evicts a connection after a failure. A connection is kept if its
   * server reports that another server, such as a Citus worker, has failed. A connection is evicted
   * if its server has become read-only. A connection is also evicted if an outdated session
   * setting, such as an old search_path, may have caused the failure.
   */
  static final class Eviction implements SQLExceptionOverride {

    /** The SQLSTATEs and SQLSTATE classes of errors that the role's settings can cause. */
    private static final Set<String> CAUSED_BY_SETTINGS =
        Set.of(DatabaseFailure.READ_ONLY, "26", "42");

    @java.lang.Override
    public SQLExceptionOverride.Override adjudicate(SQLException cause) {
      DatabaseFailure failure = new DatabaseFailure(cause);
      if (failure.hasState(CAUSED_BY_SETTINGS)) {
        return SQLExceptionOverride.Override.MUST_EVICT;
      }
      // A connection pooler sends SQLSTATE 08P01 when it closes a connection.
      return failure.isFromServer() && failure.hasState("08") && !failure.hasState("08P01")
          ? SQLExceptionOverride.Override.DO_NOT_EVICT
          : SQLExceptionOverride.Override.CONTINUE_EVICT;
    }
  }
}
