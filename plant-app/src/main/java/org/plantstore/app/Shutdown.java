package org.plantstore.app;

import io.micronaut.context.annotation.Property;
import io.micronaut.context.event.ApplicationEventPublisher;
import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.health.HealthStatus;
import io.micronaut.management.health.indicator.HealthIndicator;
import io.micronaut.management.health.indicator.HealthResult;
import io.micronaut.management.health.indicator.annotation.Readiness;
import io.micronaut.runtime.EmbeddedApplication;
import io.micronaut.runtime.event.ApplicationShutdownEvent;
import jakarta.inject.Singleton;
import java.time.Duration;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of the service: readiness turns off, requests are served until the balancer has noticed,
 * and then what was accepted is answered. Safe for use by many threads.
 */
@Singleton
@Readiness
final class Shutdown implements HealthIndicator {

  private static final Logger LOG = LoggerFactory.getLogger(Shutdown.class);

  private final EmbeddedApplication<?> application;
  private final ApplicationEventPublisher<ApplicationShutdownEvent> events;
  private final Duration drainTime;
  private volatile boolean begun;

  Shutdown(
      EmbeddedApplication<?> application,
      ApplicationEventPublisher<ApplicationShutdownEvent> events,
      @Property(name = ServiceSettings.DRAIN_SECONDS) long drainSeconds) {
    this.application = application;
    this.events = events;
    this.drainTime = Duration.ofSeconds(drainSeconds);
  }

  /** Drains and stops the service; returns when all that was accepted is answered. */
  void run() {
    drain();
    application.stop();
    LOG.info("Stopped");
  }

  /** Turns readiness off, publishes the shutdown event, and returns after the time to drain. */
  private void drain() {
    begun = true;
    events.publishEvent(new ApplicationShutdownEvent(application));
    LOG.info(
        "Asked to end: no longer ready, serving for {} s more (DRAIN_SECONDS)",
        drainTime.toSeconds());
    try {
      Thread.sleep(drainTime.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public Publisher<HealthResult> getResult() {
    HealthStatus status = begun ? HealthStatus.DOWN : HealthStatus.UP;
    return Publishers.just(HealthResult.builder("shutdown", status).build());
  }
}
