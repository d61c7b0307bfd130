package org.plantstore.adapter.persistence;

import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToDoubleFunction;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.PendingPlants.Batch;

/** The store's metrics, which are recorded once per batch. This class is thread-safe. */
@Singleton
class StoreMetrics {

  private static final Duration[] COMMIT_TIMES =
      LongStream.of(500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 1_000_000)
          .mapToObj(micros -> Duration.ofNanos(1_000 * micros))
          .toArray(Duration[]::new);

  private final MeterRegistry registry;
  private final LongAdder taken = new LongAdder();
  private final LongAdder nanosWaited = new LongAdder();
  private final DistributionSummary sizes;
  private final Timer stored;
  private final Timer failed;

  /** Registers the meters. If the registry is null, the meters record nothing. */
  StoreMetrics(@Nullable MeterRegistry registry) {
    this.registry = registry == null ? new CompositeMeterRegistry() : registry;
    FunctionTimer.builder(
            "plant.store.queue.wait",
            this,
            metrics -> metrics.taken.sum(),
            metrics -> metrics.nanosWaited.sum(),
            TimeUnit.NANOSECONDS)
        .description("Time that plants spent waiting for their batch to begin")
        .register(this.registry);
    sizes =
        DistributionSummary.builder("plant.store.batch.plants")
            .description("Plants written by one statement")
            .serviceLevelObjectives(1, 4, 16, 64)
            .register(this.registry);
    stored = commits("stored");
    failed = commits("failed");
  }

  private Timer commits(String outcome) {
    return Timer.builder("plant.store.commit")
        .description("Time from the start of a batch until it is committed or has failed")
        .tag("outcome", outcome)
        .serviceLevelObjectives(COMMIT_TIMES)
        .register(registry);
  }

  <T> void gauge(String name, String description, T source, ToDoubleFunction<T> value) {
    Gauge.builder(name, source, value).description(description).register(registry);
  }

  /** Records a batch that has just been committed or has just failed. */
  void record(Batch batch, boolean isStored) {
    (isStored ? stored : failed).record(System.nanoTime() - batch.began(), TimeUnit.NANOSECONDS);
    taken.add(batch.calls().size());
    batch.calls().forEach(call -> nanosWaited.add(batch.began() - call.began));
    sizes.record(batch.calls().size());
  }
}
