package org.plantstore.adapter.persistence;

import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.batch.BatchFailure;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.domain.NewPlant;

/**
 * Measures the store from outside the batching, once for each batch. Safe for use by many threads.
 */
final class StoreMetrics {

  private static final String OUTCOME = "outcome";

  private static final double[] BATCH_PLANTS = {1, 4, 16, 64};

  private static final Duration[] COMMIT_TIMES =
      Arrays.stream(new double[] {0.5, 1, 2.5, 5, 10, 25, 100, 1_000})
          .mapToObj(millis -> Duration.ofNanos((long) (millis * 1_000_000)))
          .toArray(Duration[]::new);

  private final MeterRegistry registry;

  /**
   * Measures for a registry.
   *
   * @param registry where the meters are registered, or null if nobody reads them
   */
  StoreMetrics(@Nullable MeterRegistry registry) {
    this.registry = registry == null ? new CompositeMeterRegistry() : registry;
  }

  /** Answers the table, with each of its batches measured. */
  GroupCommit.Table measured(GroupCommit.Table table) {
    DistributionSummary sizes =
        DistributionSummary.builder("plant.store.batch.plants")
            .description("Plants that were written with one statement")
            .serviceLevelObjectives(BATCH_PLANTS)
            .register(registry);
    return new MeasuredTable(table, sizes, commits("stored"), commits("failed"));
  }

  private Timer commits(String outcome) {
    return Timer.builder("plant.store.commit")
        .description("From the borrowing of a connection to the end of a batch's commit")
        .tag(OUTCOME, outcome)
        .serviceLevelObjectives(COMMIT_TIMES)
        .register(registry);
  }

  /** Has the queue read whenever somebody asks for the metrics. */
  void watch(GroupCommit groupCommit) {
    Gauge.builder("plant.store.queue.plants", groupCommit, GroupCommit::waitingPlants)
        .description("Plants that wait for their batch")
        .register(registry);
    FunctionTimer.builder(
            "plant.store.queue.wait",
            groupCommit,
            GroupCommit::takenPlants,
            group -> group.waited().toNanos(),
            TimeUnit.NANOSECONDS)
        .description("How long plants waited for their batch")
        .register(registry);
  }

  private record MeasuredTable(
      GroupCommit.Table table, DistributionSummary sizes, Timer stored, Timer failed)
      implements GroupCommit.Table {

    @Override
    public Map<Long, NewPlant> putIfAbsent(SortedMap<Long, NewPlant> plants) throws BatchFailure {
      long began = System.nanoTime();
      Timer timer = failed;
      try {
        Map<Long, NewPlant> answer = table.putIfAbsent(plants);
        timer = stored;
        return answer;
      } finally {
        timer.record(System.nanoTime() - began, TimeUnit.NANOSECONDS);
        sizes.record(plants.size());
      }
    }
  }
}
