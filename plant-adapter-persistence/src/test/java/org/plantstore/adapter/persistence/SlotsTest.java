package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.plantstore.adapter.persistence.batch.GroupCommit;

@Timeout(30)
class SlotsTest {

  @Test
  void lane_that_hangs_takes_the_shared_slots_and_leaves_each_lane_its_own() throws Exception {
    Slots slots = new Slots();
    GroupCommit.Slots hanging = slots.ofLane("east:1");
    Runnable releaseOwn = hanging.acquire();
    Runnable releaseShared = hanging.acquire();
    for (int batch = 2; batch < GroupCommit.WRITERS; batch++) {
      hanging.acquire();
    }
    GroupCommit.Slots lane = slots.ofLane("east:1");
    lane.acquire().run();
    lane.acquire();

    FutureTask<Runnable> second = new FutureTask<>(lane::acquire);
    Thread waiting = new Thread(second);
    waiting.start();
    while (waiting.getState() != Thread.State.WAITING) {
      assertFalse(second.isDone());
      Thread.onSpinWait();
    }
    releaseOwn.run();
    assertFalse(second.isDone());
    releaseShared.run();
    second.get(10, TimeUnit.SECONDS);
  }
}
