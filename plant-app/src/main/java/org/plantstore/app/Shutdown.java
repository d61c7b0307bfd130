package org.plantstore.app;

import io.micronaut.context.annotation.Property;
import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.health.HealthStatus;
import io.micronaut.management.health.indicator.HealthIndicator;
import io.micronaut.management.health.indicator.HealthResult;
import io.micronaut.management.health.indicator.annotation.Readiness;
import io.micronaut.runtime.EmbeddedApplication;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Collection;
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
  private final Collection<Runnable> drains;
  private final Duration drainTime;
  private volatile boolean begun;

  Shutdown(
      EmbeddedApplication<?> application,
      @Named("drain") Collection<Runnable> drains,
      @Property(name = ServiceSettings.DRAIN_SECONDS) long drainSeconds) {
    this.application = application;
    this.drains = drains;
    this.drainTime = Duration.ofSeconds(drainSeconds);
  }

  /** Drains and stops the service; returns when all that was accepted is answered. */
  void run() {
    drain();
    application.stop();
    LOG.info("Stopped");
  }

  /**
   * Turns readiness off, runs what adapters do at the begin of the drain, and returns at its end.
   * The framework's shutdown event follows then: others may close what creates need.
   */
  private void drain() {
    begun = true;
    drains.forEach(Runnable::run);
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
