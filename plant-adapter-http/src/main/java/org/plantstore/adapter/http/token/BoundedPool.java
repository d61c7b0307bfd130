package org.plantstore.adapter.http.token;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;

/** Creates thread pools with a bounded queue, so that waiting tokens cannot exhaust the memory. */
final class BoundedPool {

  private BoundedPool() {}

  /**
   * Returns a pool of daemon threads. If 1,024 tasks are waiting for these threads, the pool
   * rejects further tasks with a RefusedException and the error {@code OVERLOADED}.
   */
  static Executor of(String threadName, int threads) {
    return new ThreadPoolExecutor(
        threads,
        threads,
        0,
        TimeUnit.SECONDS,
        new LinkedBlockingQueue<>(1_024),
        work -> {
          Thread thread = new Thread(work, threadName);
          thread.setDaemon(true);
          return thread;
        },
        (work, full) -> {
          throw new RefusedException(ErrorNumber.OVERLOADED);
        });
  }
}
