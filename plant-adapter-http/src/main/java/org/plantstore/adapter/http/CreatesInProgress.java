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
 * Limits the number of creates in progress and the duration of each. A create holds a permit until
 * its caller receives a response, or longer if its call of the store still occupies a thread. Safe
 * for use by multiple threads.
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
   * Starts a create. The returned stage completes on the event loop, no later than the deadline.
   * The deadline is a timer of the event loop, because a timer that wakes another thread costs
   * more.
   *
   * @throws RefusedException with {@code OVERLOADED} if too many creates are in progress
   */
  CompletionStage<Plant> start(NewPlant plant, ScheduledExecutorService eventLoop) {
    if (!permits.tryAcquire()) {
      throw new RefusedException(ErrorNumber.OVERLOADED);
    }
    BlockingCalls.Call call = blockingCalls.newCall();
    CompletionStage<Plant> created = createAsync(plant, call);
    CompletableFuture<Plant> response = new CompletableFuture<>();
    ScheduledFuture<?> deadline =
        eventLoop.schedule(
            () -> {
              call.expire(permits::release);
              response.completeExceptionally(
                  new PlantStoreUnavailableException(
                      createPlant + " has exceeded CREATE_TIMEOUT_SECONDS, " + timeoutSeconds));
              created.toCompletableFuture().cancel(true);
            },
            timeoutSeconds,
            TimeUnit.SECONDS);
    created.whenComplete((result, failure) ->
        eventLoop.execute(() -> {
          if (!deadline.cancel(false)) {
            return; // the caller received its response at the deadline
          }
          permits.release();
          if (failure == null) {
            response.complete(result);
          } else {
            response.completeExceptionally(attributed(failure));
          }
        }));
    return response;
  }

  private CompletionStage<Plant> createAsync(NewPlant plant, Executor call) {
    try {
      return requireNonNull(
          createPlant.createAsync(plant, call), () -> createPlant + " returned no stage");
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /**
   * Returns the failure if the port declares its type. Otherwise, wraps it as a fault of the store,
   * because a store may throw exceptions, such as those of the framework's HTTP client, that the
   * framework would treat as errors in the request.
   */
  private Throwable attributed(Throwable failure) {
    return failure instanceof InvalidPlantException
            || failure instanceof PlantIdTakenException
            || failure instanceof PlantStoreUnavailableException
        ? failure
        : new IllegalStateException(createPlant + " failed", failure);
  }
}
