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
 * Limits the number of create requests in progress, the total length of their names and tags, and
 * the duration of each request. A request holds its permits until it completes or its deadline
 * passes, even if the client disconnects earlier. If the store call still occupies a thread at the
 * deadline, the request holds its permits until the call returns. Safe for use by multiple threads.
 */
@Singleton
final class CreatesInProgress {

  /**
   * The limit on the number of characters in the names and tags of all create requests in progress.
   * A limit of the same size applies to the bytes of all request bodies, but a body no longer
   * counts toward that limit once its client has disconnected.
   */
  private static final long MAX_CHARACTERS = Runtime.getRuntime().maxMemory() / 8;

  private final CreatePlant createPlant;
  private final BlockingCalls blockingCalls;
  private final int timeoutSeconds;
  private final Semaphore permits;
  private final Semaphore characters =
      new Semaphore((int) Math.min(MAX_CHARACTERS, Integer.MAX_VALUE));

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
   * Starts creating a plant. The returned {@link CompletionStage} completes by the deadline, on the
   * event loop. The deadline is implemented as a timer on the event loop, because a timer that
   * wakes another thread would use more CPU time.
   *
   * @throws RefusedException with {@code OVERLOADED} if too many create requests are in progress,
   *     or if the total length of their names and tags would exceed the limit
   */
  CompletionStage<Plant> start(NewPlant plant, ScheduledExecutorService eventLoop) {
    Runnable release = acquire(plant);
    BlockingCalls.Call call = blockingCalls.newCall();
    CompletionStage<Plant> created = createAsync(plant, call);
    CompletableFuture<Plant> response = new CompletableFuture<>();
    ScheduledFuture<?> deadline =
        eventLoop.schedule(
            () -> {
              call.expire(release);
              response.completeExceptionally(
                  new PlantStoreUnavailableException(
                      "%s did not respond within %s s (CREATE_TIMEOUT_SECONDS)"
                          .formatted(createPlant, timeoutSeconds)));
              created.toCompletableFuture().cancel(true);
            },
            timeoutSeconds,
            TimeUnit.SECONDS);
    created.whenComplete((result, failure) ->
        eventLoop.execute(() -> {
          if (!deadline.cancel(false)) {
            return; // the caller received its response at the deadline
          }
          release.run();
          if (failure == null) {
            response.complete(result);
          } else {
            response.completeExceptionally(attributed(failure));
          }
        }));
    return response;
  }

  private Runnable acquire(NewPlant plant) {
    int length = plant.name().length() + (plant.tag() == null ? 0 : plant.tag().length());
    if (permits.tryAcquire()) {
      if (characters.tryAcquire(length)) {
        return () -> {
          permits.release();
          characters.release(length);
        };
      }
      permits.release();
    }
    throw new RefusedException(ErrorNumber.OVERLOADED);
  }

  private CompletionStage<Plant> createAsync(NewPlant plant, Executor call) {
    try {
      return requireNonNull(
          createPlant.createAsync(plant, call),
          () -> createPlant + " must return a CompletionStage, but returned null");
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /**
   * Returns the failure unchanged if it is one of the exceptions that {@link CreatePlant} declares.
   * Any other failure is wrapped, so that it is handled as an internal error. Without the wrapper,
   * some exceptions, such as exceptions from the framework's HTTP client, would be handled as
   * client errors.
   */
  private Throwable attributed(Throwable failure) {
    return failure instanceof InvalidPlantException
            || failure instanceof PlantIdTakenException
            || failure instanceof PlantStoreUnavailableException
        ? failure
        : new IllegalStateException(createPlant + " failed", failure);
  }
}
