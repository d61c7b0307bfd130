package org.plantstore.adapter.persistence.database;

import io.micronaut.configuration.jdbc.hikari.DatasourceConfiguration;
import io.micronaut.context.env.Environment;
import io.micronaut.context.event.BeanCreatedEvent;
import io.micronaut.context.event.BeanCreatedEventListener;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** Gives the pool what cannot be told by properties. */
@Singleton
final class PoolSettings implements BeanCreatedEventListener<DatasourceConfiguration> {

  /**
   * A pool that was told of failures would wait for longer and longer after each, and overlook that
   * the database is back.
   */
  private static final Duration FOR_EVER = Duration.ofDays(10_000);

  private final Environment environment;
  private final Connector connector;
  private final DatabaseTimeouts timeouts;

  PoolSettings(Environment environment, Connector connector, DatabaseTimeouts timeouts) {
    this.environment = environment;
    this.connector = connector;
    this.timeouts = timeouts;
  }

  @Override
  public DatasourceConfiguration onCreated(BeanCreatedEvent<DatasourceConfiguration> event) {
    DatasourceConfiguration pool = event.getBean();
    // The framework would replace what looks like a placeholder.
    pool.setPassword(DatabaseAccess.of(environment).password());
    // Until the tables are there: a start is to need no more connections than the service does.
    pool.setDataSource(new ConnectorDataSource(connector, FOR_EVER, new CountDownLatch(1)));
    pool.setConnectionTimeout(timeouts.create().toMillis());
    pool.setValidationTimeout(timeouts.signOfLife().toMillis());
    pool.setExceptionOverride(new ReadOnlyIsBroken());
    return pool;
  }
}
