package org.plantstore.adapter.http;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.micronaut.context.annotation.Context;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.MediaType;
import io.micronaut.http.ServerHttpRequest;
import io.micronaut.http.annotation.Consumes;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Post;
import io.micronaut.serde.annotation.SerdeImport;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledExecutorService;
import org.plantstore.adapter.http.observe.Exchange;
import org.plantstore.domain.Plant;

/**
 * The contract's only operation. Created at the start, so that a service without a use case does
 * not start. {@code token.TokenFilter} has required a valid token. {@code Accept} is ignored,
 * because answers are always JSON.
 */
@Context
@Controller
@SerdeImport(value = Plant.class, mixin = PlantsController.WithoutAbsentTag.class)
final class PlantsController {

  /** Leaves an absent tag out of an answer, but not an empty one. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  interface WithoutAbsentTag {}

  private final NewPlantReader newPlants;
  private final CreatesInProgress creates;

  PlantsController(NewPlantReader newPlants, CreatesInProgress creates) {
    this.newPlants = newPlants;
    this.creates = creates;
  }

  @Post("/plants")
  @Consumes(MediaType.ALL)
  CompletionStage<HttpResponse<Plant>> create(ServerHttpRequest<?> request) {
    ScheduledExecutorService eventLoop = Exchange.eventLoopOf(request);
    return newPlants
        .read(request)
        .thenCompose(plant -> creates.start(plant, eventLoop))
        .thenApply(plant -> HttpResponse.ok(plant).contentType(MediaType.APPLICATION_JSON_TYPE));
  }
}
