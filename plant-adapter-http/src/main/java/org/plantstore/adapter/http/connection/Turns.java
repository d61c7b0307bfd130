package org.plantstore.adapter.http.connection;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

/**
 * What waits for its turn on an event loop. The loop does one such thing at a time, and in between
 * everything else that it has to do.
 */
@SuppressWarnings("FutureReturnValueIgnored") // Netty logs what a task throws
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
      schedule(loop);
    }
  }

  /**
   * Scheduled, not executed: a loop may run executed tasks for a second before it looks at its
   * sockets.
   */
  private static void schedule(EventExecutor loop) {
    loop.schedule(() -> runFirst(loop), 0, TimeUnit.NANOSECONDS);
  }

  private static void runFirst(EventExecutor loop) {
    Queue<Runnable> waiting = WAITING.get();
    Runnable first = waiting.element();
    try {
      first.run();
    } finally {
      waiting.remove();
      if (!waiting.isEmpty()) {
        schedule(loop);
      }
    }
  }
}
