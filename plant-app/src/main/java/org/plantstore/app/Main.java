package org.plantstore.app;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.annotation.Import;
import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.runtime.server.EmbeddedServer;
import java.security.Security;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.spi.ToolProvider;
import org.plantstore.application.PlantCreation;
import org.slf4j.LoggerFactory;

/**
 * Starts the service, or runs a command such as {@code migrate}, configured by environment
 * variables. A failure ends with exit code 1 and one line on standard error with the remedy.
 */
@Import(classes = PlantCreation.class, annotated = "*")
public final class Main {

  private static final String SERVE = "serve";

  private static final String USAGE =
      """
      plant-store [serve]   serves until SIGTERM
      plant-store migrate   brings the tables up to date, and ends
      plant-store check     reports whether these settings meet the requirements of a start here,
                            changes nothing, and ends: exit code 0 if so, otherwise 1
                  --token   also validates the token on standard input
                  --json    writes one JSON document

      plant-store --help, plant-store --version

      Settings are environment variables, such as DATABASE_URL; plant-app/docs/configuration.md
      lists them. Arguments such as --port=8080 override them.
      """;

  /** Would quote addresses with passwords. Failures that matter come as exceptions. */
  private static final Logger DRIVER_LOG = Logger.getLogger("org.postgresql");

  private Main() {}

  /**
   * Starts the service, and returns when its port is open; or runs a command, and ends the process.
   *
   * @param arguments a command, unless it is {@code serve}, its options, and settings that override
   *     the environment, each as {@code --name=value}
   */
  public static void main(String... arguments) {
    shortenNameCache();
    // A second handshake on a connection has no deadline.
    System.setProperty("jdk.tls.rejectClientInitiatedRenegotiation", "true");
    DRIVER_LOG.setLevel(Level.OFF);
    boolean hasCommand = arguments.length > 0 && !isSetting(arguments[0]);
    String command = hasCommand ? arguments[0] : SERVE;
    String[] others = hasCommand ? Arrays.copyOfRange(arguments, 1, arguments.length) : arguments;
    switch (command) {
      case "--help" -> System.out.print(USAGE);
      case "--version" -> System.out.println("plant-store " + version());
      case SERVE -> serve(others);
      default -> System.exit(run(command, others));
    }
  }

  private static void serve(String... settings) {
    try {
      long began = System.nanoTime();
      requireKnown(List.of(), settings);
      // Before the first logger exists, which these settings configure.
      ServiceSettings.requireLogSettings(System.getenv());
      ApplicationContext context = ApplicationContext.builder().args(settings).start();
      context.getBean(Shutdown.class).runAtExit();
      EmbeddedServer server = context.getBean(EmbeddedServer.class).start();
      LoggerFactory.getLogger(Main.class)
          .info(
              "Startup completed in {} ms. Server running: {}",
              Duration.ofNanos(System.nanoTime() - began).toMillis(),
              server.getContextURI());
    } catch (Throwable e) { // also an error must end the process
      StartupFailure.exit(e);
    }
  }

  /** Runs a command of the service or an adapter, and returns its exit code. */
  private static int run(String command, String... arguments) {
    List<ToolProvider> tools =
        ServiceLoader.load(ToolProvider.class).stream()
            .filter(tool -> !tool.type().getModule().isNamed()) // others are the JDK's
            .map(ServiceLoader.Provider::get)
            .filter(tool -> tool.name().equals(command))
            .toList();
    try {
      if (command.equals(Check.NAME)) {
        requireKnown(Check.OPTIONS, arguments);
        return Check.run(tools, arguments);
      }
      if (tools.isEmpty()) {
        throw new ConfigurationException("there is no such command; see plant-store --help");
      }
      requireKnown(List.of(), arguments);
      ServiceSettings.requireLogSettings(System.getenv());
      return tools.get(0).run(System.out, System.err, arguments);
    } catch (ConfigurationException e) {
      System.err.println("plant-store " + command + ": " + e.getMessage());
      return 1;
    }
  }

  /** Requires arguments that are settings, or one of the options. */
  private static void requireKnown(List<String> options, String... arguments) {
    for (String argument : arguments) {
      String name = argument.replaceFirst("(?s)=.*", "");
      if (!options.contains(argument) && (options.contains(name) || !isSetting(argument))) {
        // Only names are quoted: the rest may be a secret.
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
   * fail-over may change an address. Must run before the first look-up. Settings of operators stay.
   */
  private static void shortenNameCache() {
    if (Security.getProperty("networkaddress.cache.ttl") == null
        && System.getProperty("sun.net.inetaddr.ttl") == null) {
      Security.setProperty("networkaddress.cache.ttl", "1");
    }
    // The default of the JDK.
    if ("10".equals(Security.getProperty("networkaddress.cache.negative.ttl"))) {
      Security.setProperty("networkaddress.cache.negative.ttl", "0");
    }
  }
}
