package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micronaut.context.ApplicationContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.plantstore.adapter.persistence.batch.BatchFailure;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.adapter.persistence.batch.TestTable;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;

/** What the store measures where there is a registry; all other tests show that it needs none. */
@Timeout(120)
class StoreMetricsTest {

  private static final GroupCommit.Limits WIDE = new GroupCommit.Limits(1_000, 1_000_000);

  private final MeterRegistry registry = new SimpleMeterRegistry();

  @Test
  void batches_commits_and_the_pool_are_measured() {
    DatabaseServer server = DatabaseServer.shared();
    server.reset();
    try (ApplicationContext context =
        ApplicationContext.builder()
            .properties(DatabaseServer.settings(server.url("postgres")))
            .singletons(registry)
            .start()) {
      PlantStore store = context.getBean(PlantStore.class);
      for (long id = 0; id < 3; id++) {
        store.putIfAbsent(fern(id));
      }

      DistributionSummary batches = registry.get("plant.store.batch.plants").summary();
      assertEquals(3, batches.count());
      assertEquals(3, batches.totalAmount());
      assertEquals(3, commits("stored").count());
      assertTrue(commits("stored").totalTime(TimeUnit.NANOSECONDS) > 0);
      assertEquals(0, commits("failed").count());
      assertEquals(GroupCommit.WRITERS, registry.get("hikaricp.connections.max").gauge().value());
    }
  }

  @Test
  void queue_is_measured_while_plants_wait_and_afterwards() throws Exception {
    TestTable table = new TestTable();
    StoreMetrics metrics = new StoreMetrics(registry);
    try (GroupCommit groupCommit =
        new GroupCommit(metrics.measured(table), WIDE, Duration.ofSeconds(20))) {
      metrics.watch(groupCommit);
      List<Thread> callers = new ArrayList<>();
      for (int writer = 1; writer <= GroupCommit.WRITERS; writer++) {
        callers.add(call(groupCommit, writer));
        table.awaitBatches(writer);
      }
      callers.add(call(groupCommit, 100));
      callers.add(call(groupCommit, 101));
      await(2);
      long waitedFrom = System.nanoTime();
      LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
      long waited = System.nanoTime() - waitedFrom;

      table.release();
      for (Thread caller : callers) {
        caller.join();
      }

      FunctionTimer wait = registry.get("plant.store.queue.wait").functionTimer();
      assertEquals(GroupCommit.WRITERS + 2, wait.count());
      assertTrue(wait.totalTime(TimeUnit.NANOSECONDS) >= 2 * waited, wait.measure()::toString);
      assertEquals(0, registry.get("plant.store.queue.plants").gauge().value());
      DistributionSummary batches = registry.get("plant.store.batch.plants").summary();
      assertEquals(2, batches.max());
    }
  }

  @Test
  void commit_that_fails_is_told_apart() {
    StoreMetrics metrics = new StoreMetrics(registry);
    GroupCommit.Table failing =
        metrics.measured(plants -> {
          throw new BatchFailure(
              BatchFailure.Remedy.NONE, new PlantStoreUnavailableException("away"));
        });
    try (GroupCommit groupCommit = new GroupCommit(failing, WIDE, Duration.ofSeconds(20))) {
      assertThrows(PlantStoreUnavailableException.class, () -> groupCommit.putIfAbsent(fern(1)));
    }

    assertEquals(1, commits("failed").count());
    assertEquals(0, commits("stored").count());
  }

  private void await(int waiting) {
    while (registry.get("plant.store.queue.plants").gauge().value() != waiting) {
      assertFalse(Thread.interrupted(), "waited in vain for " + waiting + " plants");
      LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
    }
  }

  private Timer commits(String outcome) {
    return registry.get("plant.store.commit").tag("outcome", outcome).timer();
  }

  private static Thread call(GroupCommit groupCommit, long id) {
    Thread caller = new Thread(() -> groupCommit.putIfAbsent(fern(id)));
    caller.start();
    return caller;
  }

  private static NewPlant fern(long id) {
    return new NewPlant(id, "fern", null);
  }
}
