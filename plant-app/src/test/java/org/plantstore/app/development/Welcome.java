package org.plantstore.app.development;

import io.micronaut.context.annotation.Requires;
import io.micronaut.runtime.event.annotation.EventListener;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.runtime.server.event.ServerStartupEvent;
import jakarta.inject.Singleton;
import java.time.Duration;

/** Prints a command that creates a plant as soon as the service is ready. */
@Singleton
@Requires(property = Development.FOLDER)
final class Welcome {

  @EventListener
  void onStart(ServerStartupEvent event) {
    System.out.println(
        """

        The plant store is running with a key that was generated for this run.
        Its database is in %1$s.
        Press Ctrl-C to stop. To start with an empty database, delete that folder afterward.

        Create a plant with this command, or open the page below it in a browser.
        The token is valid for 24 hours.

        curl %2$s/plants -H 'Content-Type: application/json' -H 'Authorization: Bearer %3$s' -d '{"id":1,"name":"fern","tag":"shade"}'

        %2$s/#token=%3$s
        """
            .formatted(
                System.getProperty(Development.FOLDER),
                address(event.getSource()),
                DevelopmentKey.token(Duration.ofHours(24))));
  }

  /** Returns the API's address. The server's own URL may contain the management port. */
  private static String address(EmbeddedServer server) {
    String host = server.getHost().replace("0.0.0.0", "localhost");
    return server.getScheme()
        + ("://" + host + ":")
        + server.getApplicationContext().getRequiredProperty("micronaut.server.port", int.class);
  }
}
