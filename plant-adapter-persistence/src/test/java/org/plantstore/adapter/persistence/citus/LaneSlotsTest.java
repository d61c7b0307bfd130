package org.plantstore.adapter.persistence.citus;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.plantstore.adapter.persistence.Calls;
import org.plantstore.adapter.persistence.batch.GroupCommit;

@Timeout(30)
class LaneSlotsTest {

  @Test
  void lane_that_hangs_takes_the_shared_slots_and_leaves_each_lane_its_own() throws Exception {
    LaneSlots slots = new LaneSlots();
    GroupCommit.Limit hanging = slots.ofLane("east:1");
    Runnable releaseOwn = hanging.begin();
    Runnable releaseShared = hanging.begin();
    for (int batch = 2; batch < GroupCommit.WRITERS; batch++) {
      hanging.begin();
    }
    GroupCommit.Limit lane = slots.ofLane("east:1");
    lane.begin().run();
    lane.begin();

    FutureTask<Runnable> second = new FutureTask<>(lane::begin);
    Thread waiting = new Thread(second);
    waiting.start();
    Calls.await(() -> waiting.getState() == Thread.State.WAITING);
    releaseOwn.run();
    assertFalse(second.isDone());
    releaseShared.run();
    second.get(10, TimeUnit.SECONDS);
  }

  /** Otherwise a lane whose writers wait for their node would take the slots of all lanes. */
  @Test
  void batch_waits_for_its_node_before_it_takes_a_shared_slot() throws Exception {
    LaneSlots slots = new LaneSlots();
    GroupCommit.Limit lane = slots.ofLane("east:1");
    lane.begin();

    long began = System.nanoTime();
    new Thread(new FutureTask<>(lane::begin)).start();
    Calls.await(() -> slots.shared.availablePermits() < LaneSlots.SHARED);

    assertTrue(System.nanoTime() - began >= Duration.ofMillis(50).toNanos());
  }
}
