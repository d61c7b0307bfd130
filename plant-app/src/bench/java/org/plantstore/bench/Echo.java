package org.plantstore.bench;

import io.micronaut.context.annotation.Requires;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Post;
import io.micronaut.runtime.Micronaut;
import io.micronaut.serde.annotation.Serdeable;
import org.jspecify.annotations.Nullable;

/**
 * The floor of the framework: a service that answers a create with its own JSON, without a token
 * and without a store. {@link Variant#ONE_INSERT} does not use it, though it is on its class path.
 */
@Controller
@Requires(missingClasses = "org.plantstore.app.Main")
public final class Echo {

  /** Serves at the port in the variable {@code PORT}. */
  public static void main(String... arguments) {
    Micronaut.run(
        Echo.class,
        "--micronaut.server.port=" + System.getenv("PORT"),
        // As in the plant store.
        "--micronaut.netty.event-loops.default.thread-core-ratio=1");
  }

  @Post("/plants")
  Plant echo(@Body Plant plant) {
    return plant;
  }

  @Serdeable
  record Plant(long id, String name, @Nullable String tag) {}
}
