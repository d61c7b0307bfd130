package org.plantstore.adapter.http;

import static java.util.Objects.requireNonNull;

import io.micronaut.context.annotation.Property;
import jakarta.inject.Singleton;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantIdTakenException;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * Limits how many creates are in progress, and for how long. A create returns its permit when its
 * caller gets a response, or later if the store still occupies a thread. Safe for use by multiple
 * threads.
 */
@Singleton
final class CreatesInProgress {

  private final CreatePlant createPlant;
  private final BlockingCalls blockingCalls;
  private final int timeoutSeconds;
  private final Semaphore permits;

  CreatesInProgress(
      CreatePlant createPlant,
      BlockingCalls blockingCalls,
      @Property(name = "max.concurrent.creates") int max,
      @Property(name = "create.timeout.seconds") int timeoutSeconds) {
    this.createPlant = createPlant;
    this.blockingCalls = blockingCalls;
    this.timeoutSeconds = timeoutSeconds;
    this.permits = new Semaphore(max);
  }

  /**
   * Starts a create. The stage completes on the event loop, at the deadline at the latest. A timer
   * of the event loop costs less than one that wakes another thread.
   */
  CompletionStage<Plant> start(NewPlant plant, ScheduledExecutorService eventLoop) {
    if (!permits.tryAcquire()) {
      throw new RefusedException(ErrorNumber.OVERLOADED);
    }
    BlockingCalls.Call call = blockingCalls.newCall();
    CompletionStage<Plant> created = createAsync(plant, call);
    CompletableFuture<Plant> answer = new CompletableFuture<>();
    ScheduledFuture<?> deadline =
        eventLoop.schedule(
            () -> {
              call.expire(permits::release);
              answer.completeExceptionally(
                  new PlantStoreUnavailableException(
                      createPlant + " has exceeded CREATE_TIMEOUT_SECONDS, " + timeoutSeconds));
              created.toCompletableFuture().cancel(true);
            },
            timeoutSeconds,
            TimeUnit.SECONDS);
    created.whenComplete((result, failure) ->
        eventLoop.execute(() -> {
          if (!deadline.cancel(false)) {
            return; // the caller got its response at the deadline
          }
          permits.release();
          if (failure == null) {
            answer.complete(result);
          } else {
            answer.completeExceptionally(attributed(failure));
          }
        }));
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
}
