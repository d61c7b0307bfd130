package org.plantstore.adapter.persistence.database;

import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.health.HealthStatus;
import io.micronaut.management.health.indicator.HealthIndicator;
import io.micronaut.management.health.indicator.HealthResult;
import jakarta.inject.Singleton;
import org.reactivestreams.Publisher;

/** Reports the result of the last probe of the database as part of the readiness. */
@Singleton
final class DatabaseHealth implements HealthIndicator {

  private final DatabaseMonitor monitor;

  DatabaseHealth(DatabaseMonitor monitor) {
    this.monitor = monitor;
  }

  @Override
  public Publisher<HealthResult> getResult() {
    return Publishers.just(
        HealthResult.builder("database", monitor.isThere() ? HealthStatus.UP : HealthStatus.DOWN)
            .build());
  }
}
