package org.plantstore.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.groupingBy;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.annotation.Import;
import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.runtime.server.EmbeddedServer;
import java.io.PrintWriter;
import java.net.SocketException;
import java.security.Security;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.plantstore.application.PlantCreation;
import org.slf4j.LoggerFactory;

/**
 * Starts the service, or runs a command such as {@code migrate}. The service and its commands read
 * their settings from environment variables. If startup or the command fails, the process prints
 * one line to standard error and exits with code 1. The line explains what to change.
 */
@Import(classes = PlantCreation.class, annotated = "*")
public final class Main {

  /** The PostgreSQL driver's logger, which could log URLs that contain passwords. */
  private static final Logger DRIVER_LOG = Logger.getLogger("org.postgresql");

  private Main() {}

  /**
   * Either starts the service and returns once its ports are open, or runs a command and exits.
   *
   * @param arguments the command ({@code serve} by default), its options, and settings that
   *     override environment variables, such as {@code --management-port=8081}
   */
  public static void main(String... arguments) {
    configureJvm();
    boolean hasCommand = arguments.length > 0 && arguments[0].matches("[A-Za-z]+");
    String command = hasCommand ? arguments[0] : "serve";
    String[] others = hasCommand ? Arrays.copyOfRange(arguments, 1, arguments.length) : arguments;
    try {
      if (List.of(arguments).contains("--help")) {
        System.out.print(Help.text());
      } else if (List.of(arguments).contains("--version")) {
        System.out.println("plant-store " + Version.text());
      } else {
        LegibleSettings.requireLogging(System.getenv()); // before any class that logs is loaded
        if (command.equals("serve")) {
          serve(others);
        } else {
          System.exit(run(command, others));
        }
      }
    } catch (Throwable e) { // includes errors, because they must also end the process
      String failure = command.equals("serve") ? "cannot start" : command;
      System.err.println("plant-store " + failure + ": " + reasonFor(e));
      System.exit(1);
    }
  }

  private static void serve(String... arguments) {
    long began = System.nanoTime();
    readSettings("serve", arguments);
    DoubtfulSettings.warnings()
        .forEach(warning ->
            LoggerFactory.getLogger(Main.class).warn("Check the configuration: {}", warning));
    ApplicationContext context = ApplicationContext.builder().start();
    context.getBean(Shutdown.class).runAtExit();
    try {
      context.getBean(EmbeddedServer.class).start();
    } catch (RuntimeException e) {
      if (e.getCause() instanceof SocketException failure) {
        throw new ConfigurationException(
            ("opening a port failed: " + e.getMessage() + ": " + failure.getMessage())
                + "; choose unused ports that this user is allowed to open, and set PORT and"
                + " MANAGEMENT_PORT to them");
      }
      throw e; // for example, the exception of a startup listener
    }
    long millis = Duration.ofNanos(System.nanoTime() - began).toMillis();
    LoggerFactory.getLogger(Main.class).info("Startup completed in {} ms", millis);
  }

  /** Runs a command that the service or an adapter provides, and returns its exit code. */
  private static int run(String command, String... arguments) {
    PrintWriter output = new PrintWriter(System.out, true, UTF_8); // regardless of the locale
    PrintWriter errors = new PrintWriter(System.err, true, UTF_8);
    System.setOut(System.err); // for the log, because the command writes to stdout
    System.setProperty("root.level", "warn");
    List<ToolProvider> parts = parts(command);
    String[] options = readSettings(command, arguments).toArray(String[]::new);
    int exitCode =
        parts.stream().mapToInt(part -> part.run(output, errors, options)).max().orElse(0);
    if (output.checkError()) {
      throw new ConfigurationException(
          "standard output must stay open, but it cannot be written to");
    }
    return exitCode;
  }

  /**
   * Returns the tools that make up a command: one tool from each module that contributes to the
   * command.
   */
  static List<ToolProvider> parts(String command) {
    Map<String, List<ToolProvider>> tools =
        ServiceLoader.load(ToolProvider.class).stream()
            .filter(each -> !each.type().getModule().isNamed()) // skips the JDK's own tools
            .map(ServiceLoader.Provider::get)
            .collect(groupingBy(ToolProvider::name));
    if (!tools.containsKey(command)) {
      throw new ConfigurationException(
          "there is no such command; " + Spelling.remedy(command, tools.keySet()));
    }
    return tools.getOrDefault(command, List.of());
  }

  /**
   * Checks the values of all settings, passes the settings from the command line to every
   * application context, and returns the command's own options.
   */
  private static List<String> readSettings(String command, String... arguments) {
    Arguments read = Arguments.of(command, arguments);
    Map<String, String> settings = new HashMap<>(System.getenv());
    settings.putAll(read.settings());
    LegibleSettings.require(settings);
    ServiceStart.setArguments(read.settings());
    return read.options();
  }

  /**
   * Returns the message of the innermost configuration error on one line. If there is no
   * configuration error, returns a description of the root cause instead.
   */
  static String reasonFor(Throwable failure) {
    List<Throwable> causes =
        Stream.iterate(failure, Objects::nonNull, Throwable::getCause).toList();
    return causes.stream()
        .filter(ConfigurationException.class::isInstance)
        .map(Throwable::getMessage)
        .reduce((outer, inner) -> inner)
        .orElseGet(causes.get(causes.size() - 1)::toString)
        .replaceAll("[\\s\\x85\\u2028\\u2029]+", " ")
        .strip();
  }

  private static void configureJvm() {
    DRIVER_LOG.setLevel(Level.OFF);
    // Libraries format numbers for the default locale, but all messages must be in English.
    Locale.setDefault(Locale.ENGLISH);
    // Disables TLS renegotiation by clients, because no deadline would apply to a second handshake.
    System.setProperty("jdk.tls.rejectClientInitiatedRenegotiation", "true");
    // By default, the JVM caches a host's address for 30 s and a failed lookup for 10 s, but the
    // address may change during a failover. Values that the operator sets take precedence.
    System.getProperties().putIfAbsent("sun.net.inetaddr.ttl", "1");
    if ("10".equals(Security.getProperty("networkaddress.cache.negative.ttl"))) {
      Security.setProperty("networkaddress.cache.negative.ttl", "0");
    }
  }
}
