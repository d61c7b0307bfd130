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
 * The contract's only operation. {@code token.TokenFilter} has already required a valid token.
 * Created at startup, so that a service without an implementation of the port does not start.
 */
@Context
@Controller
@SerdeImport(value = Plant.class, mixin = PlantsController.WithoutAbsentTag.class)
final class PlantsController {

  /** Omits an absent tag from a response, but not an empty one. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  interface WithoutAbsentTag {}

  private final CreatesInProgress creates;

  PlantsController(CreatesInProgress creates) {
    this.creates = creates;
  }

  @Post("/plants")
  @Consumes(MediaType.ALL) // NewPlantReader refuses other types than JSON
  CompletionStage<Plant> create(@Body NewPlant plant, HttpRequest<?> request) {
    return creates.start(plant, RequestRecord.eventLoopOf(request));
  }
}
