package org.plantstore.adapter.http;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.micronaut.context.annotation.Context;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Consumes;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Post;
import io.micronaut.serde.annotation.SerdeImport;
import java.util.concurrent.CompletionStage;
import org.plantstore.adapter.http.observe.RequestRecord;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;

/**
 * Handles the only operation of the API. Requests arrive here after {@code token.TokenFilter} has
 * checked their tokens. The controller is created during startup, so that startup fails if no
 * implementation of the {@code CreatePlant} port is installed.
 */
@Context
@Controller
@SerdeImport(value = Plant.class, mixin = PlantsController.WithoutAbsentTag.class)
final class PlantsController {

  /** Omits an absent tag from the response, but includes an empty tag. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  interface WithoutAbsentTag {}

  private final CreatesInProgress creates;

  PlantsController(CreatesInProgress creates) {
    this.creates = creates;
  }

  @Post("/plants")
  @Consumes(MediaType.ALL) // NewPlantReader rejects every type except JSON
  CompletionStage<Plant> create(@Body NewPlant plant, HttpRequest<?> request) {
    return creates.start(plant, RequestRecord.eventLoopOf(request));
  }
}
