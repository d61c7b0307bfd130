package org.plantstore.app;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.core.CoreConstants;
import io.micronaut.context.annotation.Property;
import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.health.HealthStatus;
import io.micronaut.management.health.indicator.HealthIndicator;
import io.micronaut.management.health.indicator.HealthResult;
import io.micronaut.management.health.indicator.annotation.Readiness;
import io.micronaut.runtime.EmbeddedApplication;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.util.Collection;
import java.util.concurrent.TimeUnit;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shuts down the service gracefully. First, the readiness probe fails while the service continues
 * to accept requests, so that load balancers have time to stop sending requests. Then the framework
 * finishes the requests in progress. This class is thread-safe.
 */
@Singleton
@Readiness
final class Shutdown implements HealthIndicator {

  private static final Logger LOG = LoggerFactory.getLogger(Shutdown.class);

  private final EmbeddedApplication<?> application;
  private final Collection<Runnable> drains;
  private final long drainSeconds;
  private volatile boolean begun;

  Shutdown(
      EmbeddedApplication<?> application,
      @Named("drain") Collection<Runnable> drains,
      @Property(name = "drain.seconds") long drainSeconds) {
    this.application = application;
    this.drains = drains;
    this.drainSeconds = drainSeconds;
  }

  /** Adds a hook that shuts down the service when the JVM exits, for example after SIGTERM. */
  void runAtExit() {
    // Removes Logback's own shutdown hook. Shutdown hooks run concurrently, so Logback's hook could
    // stop logging too early.
    LoggerContext logs = (LoggerContext) LoggerFactory.getILoggerFactory();
    if (logs.getObject(CoreConstants.SHUTDOWN_HOOK_THREAD) instanceof Thread hook) {
      Runtime.getRuntime().removeShutdownHook(hook);
    }
    Runnable shutdown =
        () -> {
          try {
            run();
          } finally {
            logs.stop();
          }
        };
    Runtime.getRuntime().addShutdownHook(new Thread(shutdown, "shutdown"));
  }

  private void run() {
    if (!application.isRunning()) {
      return;
    }
    begun = true;
    drains.forEach(Runnable::run);
    LOG.info(
        "Shutdown has begun: the readiness probe is failing, but requests are accepted for another"
            + " {} s (DRAIN_SECONDS)",
        drainSeconds);
    try {
      TimeUnit.SECONDS.sleep(drainSeconds);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    application.stop(); // publishes the framework's shutdown events, so that stores can close
    LOG.info("The service has stopped");
  }

  @Override
  public Publisher<HealthResult> getResult() {
    HealthStatus status = begun ? HealthStatus.DOWN : HealthStatus.UP;
    return Publishers.just(HealthResult.builder("shutdown", status).build());
  }
}
