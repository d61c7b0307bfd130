package org.plantstore.adapter.persistence.citus;

import static org.junit.jupiter.api.Assertions.assertFalse;

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
}
