package org.plantstore.app;

import io.micronaut.context.annotation.Import;
import io.micronaut.context.exceptions.ConfigurationException;
import org.plantstore.application.PlantCreation;

/**
 * Starts the service, configured by environment variables. A start that fails ends with exit code 1
 * and one line on standard error that says what to change.
 */
@Import(classes = PlantCreation.class, annotated = "*")
public final class Main {

  private Main() {}

  /**
   * Starts the service and returns when it has stopped.
   *
   * @param arguments settings that override the environment, each as {@code --name=value}
   */
  public static void main(String... arguments) {
    try {
      // Before the first logger is made: logging is configured by it.
      ServiceSettings.requireLogSettings(System.getenv());
    } catch (ConfigurationException e) {
      StartupFailure.exit(e);
    }
    new Service().args(arguments).start();
  }
}
