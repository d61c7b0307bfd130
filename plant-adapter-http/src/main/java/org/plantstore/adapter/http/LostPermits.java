package org.plantstore.adapter.http;

import io.micronaut.context.annotation.Property;
import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.health.HealthStatus;
import io.micronaut.management.health.indicator.HealthIndicator;
import io.micronaut.management.health.indicator.HealthResult;
import io.micronaut.management.health.indicator.annotation.Readiness;
import jakarta.inject.Singleton;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.reactivestreams.Publisher;

/**
 * Counts the permits of creates that were answered at their deadline, but still hold a thread in
 * the store. Readiness is DOWN while they are half of all. Safe for use by many threads.
 */
@Singleton
@Readiness
final class LostPermits implements HealthIndicator {

  private final AtomicInteger count = new AtomicInteger();
  private final int permits;

  LostPermits(@Property(name = "max.concurrent.creates") int permits) {
    this.permits = permits;
  }

  void add() {
    count.incrementAndGet();
  }

  void remove() {
    count.decrementAndGet();
  }

  @Override
  public Publisher<HealthResult> getResult() {
    int lost = count.get();
    HealthStatus status = 2L * lost < permits ? HealthStatus.UP : HealthStatus.DOWN;
    return Publishers.just(
        HealthResult.builder("creates", status).details(Map.of("lost-permits", lost)).build());
  }
}
