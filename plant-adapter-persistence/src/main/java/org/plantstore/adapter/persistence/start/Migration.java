package org.plantstore.adapter.persistence.start;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.annotation.Replaces;
import io.micronaut.context.event.ApplicationEventPublisher;
import io.micronaut.context.event.BeanCreatedEvent;
import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.flyway.DataSourceMigrationRunner;
import io.micronaut.jdbc.DataSourceResolver;
import jakarta.inject.Singleton;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.flywaydb.core.api.FlywayException;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.database.ConnectorDataSource;
import org.plantstore.adapter.persistence.database.PostgresFailure;

/**
 * Migrates as the framework does, and tells the reason of a failure in an operator's words. Not
 * final, because the framework extends it for migrations that run in the background.
 */
@Singleton
@Replaces(DataSourceMigrationRunner.class)
class Migration extends DataSourceMigrationRunner {

  private final MigrationWatch watch;

  Migration(
      ApplicationContext context,
      ApplicationEventPublisher<Object> events,
      @Nullable DataSourceResolver dataSources,
      MigrationWatch watch) {
    super(context, events, dataSources);
    this.watch = watch;
  }

  @Override
  public DataSource onCreated(BeanCreatedEvent<DataSource> event) {
    try {
      DataSource pool = watch.watch(() -> super.onCreated(event));
      pool.unwrap(ConnectorDataSource.class).held().countDown();
      return pool;
    } catch (SQLException e) {
      throw new IllegalStateException("the pool is not one of this store", e);
    } catch (FlywayException e) {
      throw new ConfigurationException(
          "the tables of the database cannot be brought up to date: "
              + PostgresFailure.in(e).map(PostgresFailure::describe).orElse(e.getMessage()));
    }
  }
}
