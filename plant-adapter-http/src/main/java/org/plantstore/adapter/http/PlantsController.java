package org.plantstore.adapter.http;

import io.micronaut.context.annotation.Context;
import io.micronaut.context.annotation.Property;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.MediaType;
import io.micronaut.http.ServerHttpRequest;
import io.micronaut.http.annotation.Consumes;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Post;
import io.micronaut.http.annotation.Produces;
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
 * The contract's one operation. Made at the start, so that a service without a use case or a store
 * does not start instead of failing at the first request. Any {@code Content-Type} gets here,
 * because {@link NewPlantReader} refuses the wrong ones in the contract's way, and any {@code
 * Accept}, because answers are always JSON. Before it {@code token.TokenFilter} asks {@code
 * token.TokenValidation} for a valid token; after it {@link PlantWriter} writes the plant, or
 * {@link ErrorAnswers} what was thrown.
 */
@Context
@Controller
final class PlantsController {

  private final NewPlantReader newPlants;
  private final CreatePlant createPlant;
  private final Executor executor;

  /** Bounds the creates in progress. Each holds its plant, and a thread if the store blocks. */
  private final Semaphore places;

  PlantsController(
      NewPlantReader newPlants,
      CreatePlant createPlant,
      @Named(TaskExecutors.BLOCKING) Executor executor,
      @Property(name = HttpSettings.MAX_CONCURRENT_CREATES) int maxConcurrentCreates) {
    this.newPlants = newPlants;
    this.createPlant = createPlant;
    this.executor = executor;
    this.places = new Semaphore(maxConcurrentCreates);
  }

  @Post("/plants")
  @Consumes(MediaType.ALL)
  @Produces(MediaType.ALL)
  CompletionStage<HttpResponse<Plant>> create(ServerHttpRequest<?> request) {
    Executor eventLoop = Exchange.eventLoopOf(request);
    return newPlants
        .read(request)
        .thenCompose(plant -> create(plant, eventLoop))
        .thenApply(plant -> HttpResponse.ok(plant).contentType(MediaType.APPLICATION_JSON_TYPE));
  }

  /** Creates a plant. The stage completes on the event loop. */
  CompletionStage<Plant> create(NewPlant newPlant, Executor eventLoop) {
    if (!places.tryAcquire()) {
      throw new RefusedException(ErrorNumber.OVERLOADED);
    }
    // A stage from the begin: an implementation that throws at once must not keep its place.
    return CompletableFuture.completedFuture(newPlant)
        .thenCompose(plant -> createPlant.createAsync(plant, executor))
        .whenCompleteAsync((created, failure) -> places.release(), eventLoop);
  }
}
