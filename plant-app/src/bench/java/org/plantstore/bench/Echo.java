package org.plantstore.bench;

import io.micronaut.context.annotation.Requires;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Post;
import io.micronaut.runtime.Micronaut;
import io.micronaut.serde.annotation.Serdeable;
import org.jspecify.annotations.Nullable;

/**
 * The least that the framework does for a request: a service that answers a create with its own
 * JSON, without a token and without a store. It is no part of {@link Variant#ONE_INSERT}, on whose
 * class path it is too.
 */
@Controller
@Requires(missingClasses = "org.plantstore.app.Main")
public final class Echo {

  /** Serves at the port in the variable {@code PORT}. */
  public static void main(String... arguments) {
    Micronaut.run(
        Echo.class,
        "--micronaut.server.port=" + System.getenv("PORT"),
        // As the plant store has it.
        "--micronaut.netty.event-loops.default.thread-core-ratio=1");
  }

  @Post("/plants")
  Plant echo(@Body Plant plant) {
    return plant;
  }

  @Serdeable
  record Plant(long id, String name, @Nullable String tag) {}
}
