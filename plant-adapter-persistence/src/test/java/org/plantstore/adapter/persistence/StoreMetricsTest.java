package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.persistence.Calls.fern;
import static org.plantstore.adapter.persistence.DatabaseServer.SERVER;

import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micronaut.context.ApplicationContext;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.domain.PlantStore;

/** The metrics of a store with a registry; most other tests show that it needs none. */
class StoreMetricsTest {

  private final MeterRegistry registry = new SimpleMeterRegistry();

  @Test
  void batches_commits_the_queue_and_the_pool_are_measured() {
    SERVER.reset();
    try (ApplicationContext context = SERVER.connect(Map.of(), registry)) {
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
      FunctionTimer wait = registry.get("plant.store.queue.wait").functionTimer();
      assertEquals(3, wait.count());
      assertTrue(wait.totalTime(TimeUnit.NANOSECONDS) > 0);
      assertEquals(0, registry.get("plant.store.queue.plants").gauge().value());
      assertEquals(GroupCommit.WRITERS, registry.get("hikaricp.connections.max").gauge().value());

      SERVER.execute("DROP TABLE plant");
      assertThrows(IllegalStateException.class, () -> store.putIfAbsent(fern(3)));
      assertEquals(3, commits("stored").count());
      assertTrue(commits("failed").count() > 0);
    }
  }

  private Timer commits(String outcome) {
    return registry.get("plant.store.commit").tag("outcome", outcome).timer();
  }
}
