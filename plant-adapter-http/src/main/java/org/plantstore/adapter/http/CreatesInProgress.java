package org.plantstore.adapter.http;

import io.micronaut.context.annotation.Property;
import io.micronaut.scheduling.TaskExecutors;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * Bounds how many creates are in progress, and how long. Each holds a permit, and a thread if the
 * store blocks. At its deadline a create fails. If its thread still runs, it is interrupted, and
 * the permit is free only when the thread returns. Safe for use by many threads.
 */
@Singleton
final class CreatesInProgress {

  private final CreatePlant createPlant;
  private final Executor executor;
  private final int timeoutSeconds;
  private final Semaphore permits;
  private final AtomicInteger lost = new AtomicInteger();

  CreatesInProgress(
      CreatePlant createPlant,
      // BLOCKING may have virtual threads. These take turns only where they wait, so stores that
      // compute for ever, or hold a lock on Java 21, would stop the calls of others.
      @Named(TaskExecutors.IO) Executor executor,
      @Property(name = "max.concurrent.creates") int max,
      @Property(name = "create.timeout.seconds") int timeoutSeconds) {
    this.createPlant = createPlant;
    this.executor = executor;
    this.timeoutSeconds = timeoutSeconds;
    this.permits = new Semaphore(max);
  }

  /** Starts a create. The stage completes on the event loop, at the deadline at the latest. */
  CompletionStage<Plant> start(NewPlant plant, ScheduledExecutorService eventLoop) {
    if (!permits.tryAcquire()) {
      throw new RefusedException(ErrorNumber.OVERLOADED);
    }
    BlockingCall call = new BlockingCall();
    CompletionStage<Plant> created;
    try {
      created = createPlant.createAsync(plant, call);
    } catch (RuntimeException | Error e) {
      permits.release();
      throw e;
    }
    CompletableFuture<Plant> answer = new CompletableFuture<>();
    ScheduledFuture<?> deadline =
        eventLoop.schedule(
            () -> {
              if (!call.interrupt()) {
                created.toCompletableFuture().cancel(true);
              }
              answer.completeExceptionally(
                  new PlantStoreUnavailableException(
                      createPlant + " has exceeded CREATE_TIMEOUT_SECONDS, " + timeoutSeconds));
            },
            timeoutSeconds,
            TimeUnit.SECONDS);
    // The stage of a call that blocks completes when its thread returns.
    created.whenComplete((result, failure) -> permits.release());
    created.whenCompleteAsync(
        (result, failure) -> {
          deadline.cancel(false);
          if (failure == null) {
            answer.complete(result);
          } else {
            answer.completeExceptionally(failure);
          }
        },
        eventLoop);
    return answer;
  }

  /** Returns how many permits are held by calls that were interrupted and have not returned. */
  int lostPermits() {
    return lost.get();
  }

  /** Runs the call of a store that blocks. Its permit is lost while it ignores an interrupt. */
  private final class BlockingCall implements Executor {

    private @Nullable Thread thread;
    private boolean isInterrupted;

    @Override
    public void execute(Runnable work) {
      executor.execute(() -> {
        setThread(Thread.currentThread());
        try {
          work.run();
        } finally {
          setThread(null);
        }
      });
    }

    private synchronized void setThread(@Nullable Thread current) {
      thread = current;
      if (current == null && isInterrupted) {
        isInterrupted = false;
        lost.decrementAndGet();
      }
    }

    /** Interrupts the call if it is running, and returns whether it is. */
    synchronized boolean interrupt() {
      if (thread != null) {
        thread.interrupt();
        isInterrupted = true;
        lost.incrementAndGet();
      }
      return isInterrupted;
    }
  }
}
