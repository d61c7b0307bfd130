package org.plantstore.adapter.http;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * What waits for its turn on an event loop. One thing at a time is in the loop's own queue, so that
 * whatever else the loop has to do waits for one of them, and not for all.
 */
final class Turns {

  private static final FastThreadLocal<Queue<Runnable>> WAITING =
      new FastThreadLocal<>() {
        @Override
        protected Queue<Runnable> initialValue() {
          return new ArrayDeque<>();
        }
      };

  private Turns() {}

  /**
   * Runs something later, after all that waits already.
   *
   * @param loop the loop that this is called on
   */
  static void await(EventExecutor loop, Runnable turn) {
    Queue<Runnable> waiting = WAITING.get();
    waiting.add(turn);
    if (waiting.size() == 1) {
      loop.execute(() -> runFirst(loop));
    }
  }

  private static void runFirst(EventExecutor loop) {
    Queue<Runnable> waiting = WAITING.get();
    Runnable first = waiting.element();
    try {
      first.run();
    } finally {
      waiting.remove();
      if (!waiting.isEmpty()) {
        loop.execute(() -> runFirst(loop));
      }
    }
  }
}
