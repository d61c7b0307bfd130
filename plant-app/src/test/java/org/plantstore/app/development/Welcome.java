package org.plantstore.app.development;

import io.micronaut.context.annotation.Property;
import io.micronaut.context.annotation.Requires;
import io.micronaut.runtime.event.annotation.EventListener;
import io.micronaut.runtime.server.event.ServerStartupEvent;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Locale;

/** Prints a command that creates a plant, once the service is up. */
@Singleton
@Requires(property = "development.folder")
final class Welcome {

  private static final Duration TOKEN_VALIDITY = Duration.ofDays(1);

  private final String folder;

  Welcome(@Property(name = "development.folder") String folder) {
    this.folder = folder;
  }

  @EventListener
  void onStart(ServerStartupEvent event) {
    String token = DevelopmentKey.token(TOKEN_VALIDITY);
    System.out.println(
        String.format(
            Locale.ROOT,
            """

            The plant store is up, with a key that was made for this run.
            Its database is in %4$s; remove that folder to start anew. Ctrl-C stops it.
            Create a plant here, or on a page in the browser (the token is valid for %1$d hours):

            curl %2$s/plants -H 'Content-Type: application/json' -H 'Authorization: Bearer %3$s' -d '{"id":1,"name":"fern","tag":"shade"}'

            %2$s/#token=%3$s
            """,
            TOKEN_VALIDITY.toHours(),
            event.getSource().getURL(),
            token,
            folder));
  }
}
