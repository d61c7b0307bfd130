package org.plantstore.adapter.http;

import io.micronaut.context.annotation.Property;
import io.micronaut.context.annotation.Requires;
import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.health.HealthStatus;
import io.micronaut.management.health.indicator.HealthIndicator;
import io.micronaut.management.health.indicator.HealthResult;
import io.micronaut.management.health.indicator.annotation.Readiness;
import jakarta.inject.Singleton;
import java.util.Map;
import org.reactivestreams.Publisher;

/**
 * Readiness, where the service has it: DOWN while half of the permits are lost to calls that hang.
 */
@Singleton
@Readiness
@Requires(classes = HealthIndicator.class)
final class LostPermits implements HealthIndicator {

  private final CreatesInProgress creates;
  private final int permits;

  LostPermits(CreatesInProgress creates, @Property(name = "max.concurrent.creates") int permits) {
    this.creates = creates;
    this.permits = permits;
  }

  @Override
  public Publisher<HealthResult> getResult() {
    int lost = creates.lostPermits();
    HealthStatus status = 2L * lost < permits ? HealthStatus.UP : HealthStatus.DOWN;
    return Publishers.just(
        HealthResult.builder("creates", status).details(Map.of("lost-permits", lost)).build());
  }
}
