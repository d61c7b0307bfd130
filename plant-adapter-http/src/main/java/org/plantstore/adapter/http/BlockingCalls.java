package org.plantstore.adapter.http;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micronaut.scheduling.TaskExecutors;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Runs calls to a blocking store on separate threads, and counts the calls that are still running
 * after their deadlines. A nonblocking store, such as the PostgreSQL store, never uses these
 * threads. Safe for use by multiple threads.
 */
@Singleton
final class BlockingCalls {

  private final Executor threads;
  private final AtomicInteger overdue = new AtomicInteger();

  BlockingCalls(
      // The BLOCKING executor is not used, because it may run tasks on virtual threads. A
      // virtual thread occupies one of the few carrier threads while it computes and, on Java 21,
      // while it waits in a synchronized block.
      @Named(TaskExecutors.IO) Executor threads, @Nullable MeterRegistry registry) {
    this.threads = threads;
    if (registry != null) {
      Gauge.builder("plant.store.overdue.creates", overdue, AtomicInteger::get)
          .description("Create requests whose store call is still running after the deadline")
          .register(registry);
    }
  }

  Call newCall() {
    return new Call();
  }

  /**
   * Runs the store call of one request on a separate thread, unless the request's deadline has
   * passed.
   */
  final class Call implements Executor {

    private @Nullable Thread thread; // not null while the call is running
    private @Nullable Runnable release; // not null after the deadline

    @Override
    public void execute(Runnable call) {
      threads.execute(() -> {
        if (begin()) {
          try {
            call.run();
          } finally {
            end();
          }
        }
      });
    }

    private synchronized boolean begin() {
      if (release == null) {
        thread = Thread.currentThread();
      }
      return release == null;
    }

    private synchronized void end() {
      thread = null;
      if (release != null) {
        overdue.decrementAndGet();
        release.run();
      }
    }

    /**
     * Called at the deadline. If the call is running at the deadline, its thread is interrupted,
     * and {@code release} runs when the call returns. If the call is not running at the deadline,
     * {@code release} runs immediately. A call that has not started by the deadline never starts.
     */
    synchronized void expire(Runnable release) {
      this.release = release;
      if (thread == null) {
        release.run();
      } else {
        overdue.incrementAndGet();
        thread.interrupt();
      }
    }
  }
}
