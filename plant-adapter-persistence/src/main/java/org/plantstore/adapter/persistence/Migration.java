package org.plantstore.adapter.persistence;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.annotation.Replaces;
import io.micronaut.context.event.ApplicationEventPublisher;
import io.micronaut.context.event.BeanCreatedEvent;
import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.flyway.DataSourceMigrationRunner;
import io.micronaut.jdbc.DataSourceResolver;
import jakarta.inject.Singleton;
import javax.sql.DataSource;
import org.flywaydb.core.api.FlywayException;
import org.jspecify.annotations.Nullable;

/**
 * Migrates as the framework does, and tells the reason of a failure in an operator's words. Not
 * final, because the framework extends it for migrations that run in the background.
 */
@Singleton
@Replaces(DataSourceMigrationRunner.class)
class Migration extends DataSourceMigrationRunner {

  Migration(
      ApplicationContext context,
      ApplicationEventPublisher<Object> events,
      @Nullable DataSourceResolver dataSources) {
    super(context, events, dataSources);
  }

  @Override
  public DataSource onCreated(BeanCreatedEvent<DataSource> event) {
    try {
      return super.onCreated(event);
    } catch (FlywayException e) {
      throw new ConfigurationException(
          "the tables of the database cannot be brought up to date: "
              + PostgresFailure.in(e).map(PostgresFailure::describe).orElse(e.getMessage()));
    }
  }
}
