package org.plantstore.adapter.http;

import io.micronaut.context.annotation.Property;
import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.health.HealthStatus;
import io.micronaut.management.health.indicator.HealthIndicator;
import io.micronaut.management.health.indicator.HealthResult;
import io.micronaut.management.health.indicator.annotation.Readiness;
import io.micronaut.scheduling.TaskExecutors;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
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
import org.reactivestreams.Publisher;

/**
 * Bounds how many creates are in progress, and how long. Each holds a permit, and a thread if the
 * store blocks. At its deadline a create fails; its thread is interrupted, and keeps the permit
 * until it returns. Readiness is DOWN while half of the permits are lost in this way. Safe for use
 * by many threads.
 */
@Singleton
@Readiness
final class CreatesInProgress implements HealthIndicator {

  private final CreatePlant createPlant;
  private final Executor executor;
  private final int max;
  private final int timeoutSeconds;
  private final Semaphore permits;
  private final AtomicInteger lost = new AtomicInteger();

  CreatesInProgress(
      CreatePlant createPlant,
      @Named(TaskExecutors.BLOCKING) Executor executor,
      @Property(name = "max.concurrent.creates") int max,
      @Property(name = "create.timeout.seconds") int timeoutSeconds) {
    this.createPlant = createPlant;
    this.executor = executor;
    this.max = max;
    this.timeoutSeconds = timeoutSeconds;
    this.permits = new Semaphore(max);
  }

  /** Starts a create. The stage completes on the event loop, at the deadline at the latest. */
  CompletionStage<Plant> start(NewPlant plant, ScheduledExecutorService eventLoop) {
    if (!permits.tryAcquire()) {
      throw new RefusedException(ErrorNumber.OVERLOADED);
    }
    Permit permit = new Permit();
    CompletionStage<Plant> created = start(plant, permit);
    CompletableFuture<Plant> answer = new CompletableFuture<>();
    ScheduledFuture<?> deadline =
        eventLoop.schedule(
            () -> {
              permit.expire();
              created.toCompletableFuture().cancel(true);
              answer.completeExceptionally(
                  new PlantStoreUnavailableException(
                      createPlant + " has exceeded CREATE_TIMEOUT_SECONDS, " + timeoutSeconds));
            },
            timeoutSeconds,
            TimeUnit.SECONDS);
    created.whenCompleteAsync(
        (result, failure) -> {
          if (deadline.cancel(false)) {
            permit.leave();
            if (failure == null) {
              answer.complete(result);
            } else {
              answer.completeExceptionally(failure);
            }
          }
        },
        eventLoop);
    return answer;
  }

  private CompletionStage<Plant> start(NewPlant plant, Executor permit) {
    try {
      return createPlant.createAsync(plant, permit);
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public Publisher<HealthResult> getResult() {
    HealthStatus status = 2L * lost.get() < max ? HealthStatus.UP : HealthStatus.DOWN;
    return Publishers.just(
        HealthResult.builder("creates", status)
            .details(Map.of("lost-permits", lost.get()))
            .build());
  }

  /** An acquired permit, held by the create and by the call that blocks; runs that call. */
  private final class Permit implements Executor {

    private final AtomicInteger holders = new AtomicInteger(1);
    private volatile @Nullable FutureTask<?> call;
    private volatile boolean isLost;

    @Override
    public void execute(Runnable work) {
      FutureTask<?> task = new FutureTask<>(work, null);
      holders.incrementAndGet();
      call = task;
      try {
        executor.execute(() -> {
          task.run();
          leave();
        });
      } catch (RuntimeException | Error e) {
        leave();
        throw e;
      }
    }

    void leave() {
      if (holders.decrementAndGet() == 0) {
        permits.release();
        if (isLost) {
          lost.decrementAndGet();
        }
      }
    }

    void expire() {
      isLost = true;
      lost.incrementAndGet();
      FutureTask<?> blocking = call;
      if (blocking != null) {
        blocking.cancel(true);
      }
      leave();
    }
  }
}
