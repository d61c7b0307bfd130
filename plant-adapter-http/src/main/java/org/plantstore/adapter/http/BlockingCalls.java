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
 * Threads for a store that blocks, and the number of its calls that have not returned at their
 * deadline. A store that does not block, such as that of PostgreSQL, uses none of this. Safe for
 * use by multiple threads.
 */
@Singleton
final class BlockingCalls {

  private final Executor threads;
  private final AtomicInteger overdue = new AtomicInteger();

  BlockingCalls(
      // BLOCKING may have virtual threads. A store that computes forever, or waits while it holds
      // a lock on Java 21, would occupy one of the few threads that run them.
      @Named(TaskExecutors.IO) Executor threads, @Nullable MeterRegistry registry) {
    this.threads = threads;
    if (registry != null) {
      Gauge.builder("plant.store.overdue.creates", overdue, AtomicInteger::get)
          .description("Creates whose threads have not returned after the deadline")
          .register(registry);
    }
  }

  /** Returns the executor of one create. */
  Call newCall() {
    return new Call();
  }

  /** Runs the blocking call of one create on a thread, unless its deadline has passed. */
  final class Call implements Executor {

    private @Nullable Thread thread; // while the call runs
    private @Nullable Runnable release; // after the deadline

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

    /** Interrupts the call at its deadline. Runs {@code release} when no thread runs the call. */
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
