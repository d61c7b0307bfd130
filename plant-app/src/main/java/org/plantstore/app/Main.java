package org.plantstore.app;

import io.micronaut.context.annotation.Import;
import io.micronaut.context.exceptions.ConfigurationException;
import java.security.Security;
import java.util.Arrays;
import java.util.ServiceLoader;
import java.util.spi.ToolProvider;
import org.plantstore.application.PlantCreation;

/**
 * Starts the service, configured by environment variables. A start that fails ends with exit code 1
 * and one line on standard error that says what to change.
 */
@Import(classes = PlantCreation.class, annotated = "*")
public final class Main {

  private static final String NAME_CACHE_SECONDS = "networkaddress.cache.ttl";
  private static final String UNKNOWN_NAME_CACHE_SECONDS = "networkaddress.cache.negative.ttl";

  private Main() {}

  /**
   * Starts the service and returns when it has stopped; or runs a command, such as {@code migrate},
   * and ends.
   *
   * @param arguments the command if there is one, and settings that override the environment, each
   *     as {@code --name=value}
   */
  public static void main(String... arguments) {
    shortenNameCache();
    try {
      // Before the first logger is made: logging is configured by it.
      ServiceSettings.requireLogSettings(System.getenv());
    } catch (ConfigurationException e) {
      StartupFailure.exit(e);
    }
    if (arguments.length > 0 && !arguments[0].startsWith("-")) {
      System.exit(run(arguments[0], Arrays.copyOfRange(arguments, 1, arguments.length)));
    }
    new Service().args(arguments).start();
  }

  /** Runs a command that the store brings along, and returns its exit code. */
  private static int run(String command, String... arguments) {
    return ServiceLoader.load(ToolProvider.class).stream()
        .filter(tool -> !tool.type().getModule().isNamed()) // others are the JDK's
        .map(ServiceLoader.Provider::get)
        .filter(tool -> tool.name().equals(command))
        .findFirst()
        .map(tool -> tool.run(System.out, System.err, arguments))
        .orElseGet(() -> {
          System.err.println("plant-store has no command " + command);
          return 1;
        });
  }

  /**
   * Shortens the JVM's cache of host names, 30 s for an address and 10 s for none, because a
   * fail-over may change an address. Must run before the first look-up. What an operator has set
   * stays.
   */
  private static void shortenNameCache() {
    if (Security.getProperty(NAME_CACHE_SECONDS) == null
        && System.getProperty("sun.net.inetaddr.ttl") == null) {
      Security.setProperty(NAME_CACHE_SECONDS, "1");
    }
    // The JDK itself sets this one.
    if ("10".equals(Security.getProperty(UNKNOWN_NAME_CACHE_SECONDS))) {
      Security.setProperty(UNKNOWN_NAME_CACHE_SECONDS, "0");
    }
  }
}
