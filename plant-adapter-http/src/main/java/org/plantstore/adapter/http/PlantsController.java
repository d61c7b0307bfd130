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
import java.util.concurrent.Semaphore;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.adapter.http.observe.Exchange;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;

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

  /** Bounds the creates in progress. Each holds a plant, and a thread if the store blocks. */
  private final Semaphore permits;

  PlantsController(
      NewPlantReader newPlants,
      CreatePlant createPlant,
      @Named(TaskExecutors.BLOCKING) Executor executor,
      @Property(name = "max.concurrent.creates") int maxConcurrentCreates) {
    this.newPlants = newPlants;
    this.createPlant = createPlant;
    this.executor = executor;
    this.permits = new Semaphore(maxConcurrentCreates);
  }

  @Post("/plants")
  @Consumes(MediaType.ALL)
  CompletionStage<HttpResponse<Plant>> create(ServerHttpRequest<?> request) {
    Executor eventLoop = Exchange.eventLoopOf(request);
    return newPlants
        .read(request)
        .thenCompose(plant -> create(plant, eventLoop))
        .thenApply(plant -> HttpResponse.ok(plant).contentType(MediaType.APPLICATION_JSON_TYPE));
  }

  /** Creates a plant. The stage completes on the event loop. */
  CompletionStage<Plant> create(NewPlant newPlant, Executor eventLoop) {
    if (!permits.tryAcquire()) {
      throw new RefusedException(ErrorNumber.OVERLOADED);
    }
    // Called within a stage, so that the permit is released even if the call throws.
    return CompletableFuture.completedFuture(newPlant)
        .thenCompose(plant -> createPlant.createAsync(plant, executor))
        .whenCompleteAsync((created, failure) -> permits.release(), eventLoop);
  }
}
