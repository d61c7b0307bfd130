package org.plantstore.adapter.persistence;

import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.PostgresPlantStore.Lane;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.domain.NewPlant;

/** The metrics of the store, recorded once for each batch. Safe for use by many threads. */
final class StoreMetrics {

  private static final double[] BATCH_PLANTS = {1, 4, 16, 64};

  private static final Duration[] COMMIT_TIMES =
      LongStream.of(500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 1_000_000)
          .mapToObj(micros -> Duration.of(micros, ChronoUnit.MICROS))
          .toArray(Duration[]::new);

  private final MeterRegistry registry;

  /** Creates the metrics. The registry may be null, if the service has none. */
  StoreMetrics(@Nullable MeterRegistry registry) {
    this.registry = registry == null ? new CompositeMeterRegistry() : registry;
  }

  /** Returns the table, with the size and duration of each batch recorded. */
  GroupCommit.Table measured(GroupCommit.Table table) {
    DistributionSummary sizes =
        DistributionSummary.builder("plant.store.batch.plants")
            .description("Plants that were written with one statement")
            .serviceLevelObjectives(BATCH_PLANTS)
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

  /** Registers the meters of the lanes, whose number may change. */
  void watch(Collection<Lane> lanes) {
    ToLongFunction<Lane> taken = lane -> lane.commit().takenPlants();
    Gauge.builder(
            "plant.store.queue.plants",
            lanes,
            all -> sum(all, lane -> lane.commit().waitingPlants()))
        .description("Plants that wait for their batch")
        .register(registry);
    FunctionTimer.builder(
            "plant.store.queue.wait",
            lanes,
            all -> sum(all, taken),
            all -> sum(all, lane -> lane.commit().waitedNanos()),
            TimeUnit.NANOSECONDS)
        .description("How long plants waited for their batch")
        .register(registry);
    countPlants(lanes, "serving", taken);
    countPlants(
        lanes, "failing", lane -> lane.breaker() == null ? 0 : lane.breaker().refusedPlants());
  }

  private void countPlants(Collection<Lane> lanes, String state, ToLongFunction<Lane> number) {
    FunctionCounter.builder("plant.store.lane.plants", lanes, all -> sum(all, number))
        .description("Plants taken into batches, and those refused because their lane cannot write")
        .tag("state", state)
        .register(registry);
  }

  private static long sum(Collection<Lane> lanes, ToLongFunction<Lane> number) {
    return lanes.stream().mapToLong(number).sum();
  }
}
