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
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import org.plantstore.adapter.http.connection.BlockingWork;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
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
  private final BlockingWork blockingWork;

  /** Bounds the creates in progress: without virtual threads each holds a thread of its own. */
  private final Semaphore places;

  PlantsController(
      NewPlantReader newPlants,
      CreatePlant createPlant,
      BlockingWork blockingWork,
      @Property(name = HttpSettings.MAX_CONCURRENT_CREATES) int maxConcurrentCreates) {
    this.newPlants = newPlants;
    this.createPlant = createPlant;
    this.blockingWork = blockingWork;
    this.places = new Semaphore(maxConcurrentCreates);
  }

  @Post("/plants")
  @Consumes(MediaType.ALL)
  @Produces(MediaType.ALL)
  CompletionStage<HttpResponse<Plant>> create(ServerHttpRequest<?> request) {
    return newPlants
        .read(request)
        .thenCompose(this::create)
        .thenApply(plant -> HttpResponse.ok(plant).contentType(MediaType.APPLICATION_JSON_TYPE));
  }

  /** Creates a plant on another thread. The place is given back also if no thread can be had. */
  CompletionStage<Plant> create(NewPlant plant) {
    if (!places.tryAcquire()) {
      throw new RefusedException(ErrorNumber.OVERLOADED);
    }
    return blockingWork
        .submit(() -> createPlant.create(plant))
        .whenComplete((created, failure) -> places.release());
  }
}
