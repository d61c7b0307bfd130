package org.plantstore.adapter.persistence;

import io.micronaut.configuration.jdbc.hikari.DatasourceConfiguration;
import io.micronaut.context.env.Environment;
import io.micronaut.context.event.BeanCreatedEvent;
import io.micronaut.context.event.BeanCreatedEventListener;
import jakarta.inject.Singleton;

/** Gives the pool the password exactly as it was configured. */
@Singleton
final class DatabasePassword implements BeanCreatedEventListener<DatasourceConfiguration> {

  private final Environment environment;

  DatabasePassword(Environment environment) {
    this.environment = environment;
  }

  @Override
  public DatasourceConfiguration onCreated(BeanCreatedEvent<DatasourceConfiguration> event) {
    event.getBean().setPassword(DatabaseAccess.of(environment).password());
    return event.getBean();
  }
}
