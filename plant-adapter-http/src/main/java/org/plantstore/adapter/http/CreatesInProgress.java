package org.plantstore.adapter.http;

import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micronaut.context.annotation.Property;
import io.micronaut.scheduling.TaskExecutors;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.List;
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
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantIdTakenException;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * Bounds how many creates are in progress, and how long. Each holds a permit, and a thread if the
 * store blocks. At its deadline a create fails, and its thread is interrupted. A create keeps its
 * permit until it has ended and its thread has returned. Safe for use by many threads.
 */
@Singleton
final class CreatesInProgress {

  private final CreatePlant createPlant;
  private final Executor executor;
  private final int timeoutSeconds;
  private final Semaphore permits;
  private final AtomicInteger overdue = new AtomicInteger();

  CreatesInProgress(
      CreatePlant createPlant,
      // BLOCKING may have virtual threads. A store that computes for ever, or waits while it holds
      // a lock on Java 21, would keep one of the few threads that run them.
      @Named(TaskExecutors.IO) Executor executor,
      @Property(name = "max.concurrent.creates") int max,
      @Property(name = "create.timeout.seconds") int timeoutSeconds,
      @Nullable MeterRegistry registry) {
    this.createPlant = createPlant;
    this.executor = executor;
    this.timeoutSeconds = timeoutSeconds;
    this.permits = new Semaphore(max);
    if (registry != null) {
      Gauge.builder("plant.store.overdue.creates", overdue, AtomicInteger::get)
          .description("Creates whose threads have not returned after the deadline")
          .register(registry);
    }
  }

  /** Starts a create. The stage completes on the event loop, at the deadline at the latest. */
  CompletionStage<Plant> start(NewPlant plant, ScheduledExecutorService eventLoop) {
    if (!permits.tryAcquire()) {
      throw new RefusedException(ErrorNumber.OVERLOADED);
    }
    Call call = new Call();
    CompletionStage<Plant> created = createAsync(plant, call);
    CompletableFuture<Plant> answer = new CompletableFuture<>();
    ScheduledFuture<?> deadline =
        eventLoop.schedule(
            () -> {
              call.interrupt();
              answer.completeExceptionally(
                  new PlantStoreUnavailableException(
                      createPlant + " has exceeded CREATE_TIMEOUT_SECONDS, " + timeoutSeconds));
              created.toCompletableFuture().cancel(true);
            },
            timeoutSeconds,
            TimeUnit.SECONDS);
    created.whenComplete((result, failure) -> {
      boolean isReleased = call.end();
      eventLoop.execute(() -> {
        if (isReleased) {
          deadline.cancel(false);
        }
        if (failure == null) {
          answer.complete(result);
        } else {
          answer.completeExceptionally(attributed(failure));
        }
      });
    });
    return answer;
  }

  private CompletionStage<Plant> createAsync(NewPlant plant, Executor call) {
    try {
      return requireNonNull(
          createPlant.createAsync(plant, call), () -> createPlant + " has no stage");
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /**
   * Returns the failure if the port declares it. Wraps any other failure as a fault of the store,
   * because the framework would treat some exceptions that a store may throw, such as those of the
   * framework's HTTP client, as refusals of the request.
   */
  private Throwable attributed(Throwable failure) {
    return failure instanceof InvalidPlantException
            || failure instanceof PlantIdTakenException
            || failure instanceof PlantStoreUnavailableException
        ? failure
        : new IllegalStateException(createPlant + " has failed", failure);
  }

  /** Holds the permit of a create, and runs the calls of a store that blocks. */
  private final class Call implements Executor {

    private final List<Thread> threads = new ArrayList<>();
    private boolean hasPermit = true;
    private boolean isEnded;
    private boolean isOverdue;

    @Override
    public void execute(Runnable work) {
      executor.execute(() -> {
        if (enter()) {
          try {
            work.run();
          } finally {
            leave();
          }
        }
      });
    }

    private synchronized boolean enter() {
      return !isOverdue && threads.add(Thread.currentThread());
    }

    /** Gives the permit back if the create has ended, and no other thread runs for it. */
    private synchronized void leave() {
      threads.remove(Thread.currentThread());
      if (hasPermit && isEnded && threads.isEmpty()) {
        hasPermit = false;
        permits.release();
        overdue.addAndGet(isOverdue ? -1 : 0);
      }
    }

    /** Ends the create, and returns whether its permit is free. */
    synchronized boolean end() {
      isEnded = true;
      leave(); // a thread that completes the stage has nothing left to do
      return !hasPermit;
    }

    /** Ends the create at its deadline, and interrupts its threads. */
    synchronized void interrupt() {
      overdue.addAndGet(end() ? 0 : 1);
      isOverdue = true;
      threads.forEach(Thread::interrupt);
    }
  }
}
