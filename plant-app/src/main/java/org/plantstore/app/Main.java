package org.plantstore.app;

import io.micronaut.context.annotation.Import;
import io.micronaut.context.exceptions.ConfigurationException;
import java.security.Security;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.spi.ToolProvider;
import org.plantstore.application.PlantCreation;

/**
 * Starts the service, or a command such as {@code migrate}, configured by environment variables.
 * What cannot be done ends with exit code 1 and one line on standard error that says what to
 * change.
 */
@Import(classes = PlantCreation.class, annotated = "*")
public final class Main {

  private static final String SERVE = "serve";

  private static final String USAGE =
      """
      plant-store [serve]   serves until SIGTERM
      plant-store migrate   brings the tables up to date, and ends
      plant-store check     says whether these settings work here, changes nothing, and ends:
                            exit code 0 if all is as it should be, otherwise 1
                  --token   also checks the token on standard input
                  --json    writes one JSON document

      plant-store --help, plant-store --version

      Settings are environment variables, such as DATABASE_URL; plant-app/docs/configuration.md
      lists them. Arguments such as --port=8080 override them.
      """;

  private static final String NAME_CACHE_SECONDS = "networkaddress.cache.ttl";
  private static final String UNKNOWN_NAME_CACHE_SECONDS = "networkaddress.cache.negative.ttl";

  /** Would quote addresses, passwords in them included. What matters comes as an exception. */
  private static final Logger DRIVER_LOG = Logger.getLogger("org.postgresql");

  private Main() {}

  /**
   * Serves, and returns when the service has stopped; or does what else the arguments say, and
   * ends.
   *
   * @param arguments a mode, unless it is {@code serve}, its options, and settings that override
   *     the environment, each as {@code --name=value}
   */
  public static void main(String... arguments) {
    shortenNameCache();
    // A second handshake on a connection has no deadline.
    System.setProperty("jdk.tls.rejectClientInitiatedRenegotiation", "true");
    DRIVER_LOG.setLevel(Level.OFF);
    boolean hasMode = arguments.length > 0 && !isSetting(arguments[0]);
    String mode = hasMode ? arguments[0] : SERVE;
    String[] others = hasMode ? Arrays.copyOfRange(arguments, 1, arguments.length) : arguments;
    switch (mode) {
      case "--help" -> System.out.print(USAGE);
      case "--version" -> System.out.println("plant-store " + version());
      case SERVE -> serve(others);
      default -> System.exit(run(mode, others));
    }
  }

  private static void serve(String... settings) {
    try {
      requireKnown(List.of(), settings);
      // Before the first logger is made: logging is configured by it.
      ServiceSettings.requireLogSettings(System.getenv());
    } catch (ConfigurationException e) {
      StartupFailure.exit(e);
    }
    new Service().args(settings).start();
  }

  /** Runs a command that the service or an adapter brings along, and returns its exit code. */
  private static int run(String command, String... arguments) {
    List<ToolProvider> tools =
        ServiceLoader.load(ToolProvider.class).stream()
            .filter(tool -> !tool.type().getModule().isNamed()) // others are the JDK's
            .map(ServiceLoader.Provider::get)
            .filter(tool -> tool.name().equals(command))
            .toList();
    try {
      if (tools.isEmpty()) {
        throw new ConfigurationException("there is no such command; see plant-store --help");
      }
      if (command.equals(Check.NAME)) {
        requireKnown(Check.OPTIONS, arguments);
        return new Check(tools).run(arguments);
      }
      requireKnown(List.of(), arguments);
      ServiceSettings.requireLogSettings(System.getenv());
      return tools.get(0).run(System.out, System.err, arguments);
    } catch (ConfigurationException e) {
      System.err.println("plant-store " + command + ": " + e.getMessage());
      return 1;
    }
  }

  /** Requires arguments that are settings, or among these options. */
  private static void requireKnown(List<String> options, String... arguments) {
    for (String argument : arguments) {
      String name = argument.replaceFirst("(?s)=.*", "");
      if (!options.contains(argument) && (options.contains(name) || !isSetting(argument))) {
        // What is no name may be a secret.
        String fault =
            options.contains(name)
                ? name + " takes no value"
                : name.startsWith("--")
                    ? "there is no option " + name
                    : "there is no such argument";
        throw new ConfigurationException(fault + "; see plant-store --help");
      }
    }
  }

  private static boolean isSetting(String argument) {
    return argument.startsWith("--") && argument.contains("=");
  }

  private static String version() {
    return Objects.requireNonNullElse(
        Main.class.getPackage().getImplementationVersion(), "of this build");
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
