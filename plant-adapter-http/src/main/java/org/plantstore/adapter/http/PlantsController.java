package org.plantstore.adapter.http;

import io.micronaut.context.annotation.Context;
import io.micronaut.context.annotation.Property;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.MediaType;
import io.micronaut.http.ServerHttpRequest;
import io.micronaut.http.annotation.Consumes;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Post;
import io.micronaut.scheduling.TaskExecutors;
import jakarta.inject.Named;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.adapter.http.observe.Exchange;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * The contract's only operation. Created at the start, so that a service without a use case does
 * not start. {@code token.TokenFilter} has required a valid token. {@code Accept} is ignored,
 * because answers are always JSON.
 */
@Context
@Controller
final class PlantsController {

  private final NewPlantReader newPlants;
  private final CreatePlant createPlant;
  private final Executor executor;

  private final int timeoutSeconds;

  /** Bounds the creates in progress. Each holds a plant, and a thread if the store blocks. */
  private final Semaphore permits;

  private final LostPermits lostPermits;

  PlantsController(
      NewPlantReader newPlants,
      CreatePlant createPlant,
      @Named(TaskExecutors.BLOCKING) Executor executor,
      @Property(name = "max.concurrent.creates") int maxConcurrentCreates,
      @Property(name = "create.timeout.seconds") int timeoutSeconds,
      LostPermits lostPermits) {
    this.newPlants = newPlants;
    this.createPlant = createPlant;
    this.executor = executor;
    this.permits = new Semaphore(maxConcurrentCreates);
    this.timeoutSeconds = timeoutSeconds;
    this.lostPermits = lostPermits;
  }

  @Post("/plants")
  @Consumes(MediaType.ALL)
  CompletionStage<HttpResponse<Plant>> create(ServerHttpRequest<?> request) {
    ScheduledExecutorService eventLoop = Exchange.eventLoopOf(request);
    return newPlants
        .read(request)
        .thenCompose(plant -> create(plant, eventLoop))
        .thenApply(plant -> HttpResponse.ok(plant).contentType(MediaType.APPLICATION_JSON_TYPE));
  }

  /** Creates a plant. The stage completes on the event loop, at the deadline at the latest. */
  CompletionStage<Plant> create(NewPlant newPlant, ScheduledExecutorService eventLoop) {
    if (!permits.tryAcquire()) {
      throw new RefusedException(ErrorNumber.OVERLOADED);
    }
    CreatePermit permit = new CreatePermit(executor, permits, lostPermits);
    CompletionStage<Plant> created = start(newPlant, permit);
    CompletableFuture<Plant> answer = new CompletableFuture<>();
    ScheduledFuture<?> deadline =
        eventLoop.schedule(
            () -> {
              permit.expire();
              created.toCompletableFuture().cancel(true);
              answer.completeExceptionally(overdue());
            },
            timeoutSeconds,
            TimeUnit.SECONDS);
    created.whenCompleteAsync(
        (plant, failure) -> {
          if (deadline.cancel(false)) {
            permit.end();
            if (failure == null) {
              answer.complete(plant);
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

  private PlantStoreUnavailableException overdue() {
    return new PlantStoreUnavailableException(
        createPlant + " has not answered within " + timeoutSeconds + " s (CREATE_TIMEOUT_SECONDS)");
  }
}
