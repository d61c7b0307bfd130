package org.plantstore.adapter.http;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.EventExecutor;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class TurnsTest {

  @Test
  void what_waits_lets_everything_else_pass_in_between() throws InterruptedException {
    List<String> done = new CopyOnWriteArrayList<>();
    CountDownLatch last = new CountDownLatch(3);
    EventExecutor loop = new DefaultEventExecutor();
    try {
      loop.execute(() -> {
        for (String turn : List.of("first", "second", "third")) {
          Turns.await(
              loop,
              () -> {
                done.add(turn);
                loop.execute(() -> done.add("after " + turn));
                last.countDown();
              });
        }
        loop.execute(() -> done.add("other"));
      });
      last.await();

      List<String> beforeTheSecond = done.subList(0, done.indexOf("second"));
      assertEquals(Set.of("first", "other", "after first"), Set.copyOf(beforeTheSecond));
    } finally {
      assertTrue(loop.shutdownGracefully(0, 10, SECONDS).await(10, SECONDS));
    }
  }
}
