package org.plantstore.adapter.persistence;

import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.adapter.persistence.batch.PlantQueue;
import org.plantstore.domain.NewPlant;

/** The metrics of the store, recorded once for each batch. Safe for use by many threads. */
final class StoreMetrics {

  private static final Duration[] COMMIT_TIMES =
      LongStream.of(500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 1_000_000)
          .mapToObj(micros -> Duration.ofNanos(1_000 * micros))
          .toArray(Duration[]::new);

  /** Counts the plants of the store's queue. */
  final PlantQueue.Counts counts =
      new PlantQueue.Counts(new LongAdder(), new LongAdder(), new LongAdder());

  private final MeterRegistry registry;

  /** Registers the meters, unless the service has no registry. */
  StoreMetrics(@Nullable MeterRegistry registry) {
    this.registry = registry == null ? new CompositeMeterRegistry() : registry;
    FunctionTimer.builder(
            "plant.store.queue.wait",
            counts,
            all -> all.taken().sum(),
            all -> all.nanosWaited().sum(),
            TimeUnit.NANOSECONDS)
        .description("How long plants waited for a batch")
        .register(this.registry);
    count("serving", counts.taken());
    count("failing", counts.refused());
  }

  /** Registers the length of the queue, and returns the queue. */
  PlantQueue measured(PlantQueue queue) {
    Gauge.builder("plant.store.queue.plants", queue, PlantQueue::waitingPlants)
        .description("Plants waiting for a batch")
        .register(registry);
    return queue;
  }

  private void count(String state, LongAdder plants) {
    FunctionCounter.builder("plant.store.lane.plants", plants, LongAdder::sum)
        .description("Plants taken into batches, and plants refused by an open circuit breaker")
        .tag("state", state)
        .register(registry);
  }

  /** Returns a view of the table that records the size and duration of each batch. */
  GroupCommit.Table measured(GroupCommit.Table table) {
    DistributionSummary sizes =
        DistributionSummary.builder("plant.store.batch.plants")
            .description("Plants written with one statement")
            .serviceLevelObjectives(1, 4, 16, 64)
            .register(registry);
    Timer stored = commits("stored");
    Timer failed = commits("failed");
    return plants -> {
      long began = System.nanoTime();
      Timer timer = failed;
      try {
        Map<Long, NewPlant> result = table.putIfAbsent(plants);
        timer = stored;
        return result;
      } finally {
        timer.record(System.nanoTime() - began, TimeUnit.NANOSECONDS);
        sizes.record(plants.size());
      }
    };
  }

  private Timer commits(String outcome) {
    return Timer.builder("plant.store.commit")
        .description("From the borrowing of a connection to the end of a batch's commit")
        .tag("outcome", outcome)
        .serviceLevelObjectives(COMMIT_TIMES)
        .register(registry);
  }
}
