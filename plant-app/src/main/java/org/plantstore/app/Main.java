package org.plantstore.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.groupingBy;

import ch.qos.logback.classic.LoggerContext;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.annotation.Import;
import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.runtime.server.EmbeddedServer;
import java.io.PrintWriter;
import java.net.URL;
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
import org.slf4j.ILoggerFactory;
import org.slf4j.LoggerFactory;

/**
 * Starts the service, or runs a command such as {@code migrate}, configured by environment
 * variables. A failure ends with exit code 1 and one line on standard error with the remedy.
 */
@Import(classes = PlantCreation.class, annotated = "*")
public final class Main {

  /** The driver's log would contain addresses with passwords. */
  private static final Logger DRIVER_LOG = Logger.getLogger("org.postgresql");

  private Main() {}

  /**
   * Starts the service, and returns when its port is open; or runs a command, and ends the process.
   *
   * @param arguments a command, unless it is {@code serve}, then its options, and settings that
   *     override the environment, such as {@code --management-port=8081}
   */
  public static void main(String... arguments) {
    configureJvm();
    boolean hasCommand = arguments.length > 0 && arguments[0].matches("[a-z]+");
    String command = hasCommand ? arguments[0] : "serve";
    String[] others = hasCommand ? Arrays.copyOfRange(arguments, 1, arguments.length) : arguments;
    try {
      if (List.of(arguments).contains("--help")) {
        System.out.print(Help.text());
      } else if (List.of(arguments).contains("--version")) {
        System.out.println("plant-store " + Version.text());
      } else if (command.equals("serve")) {
        serve(others);
      } else {
        System.exit(run(command, others));
      }
    } catch (Throwable e) { // also an error must end the process
      String failure = command.equals("serve") ? "does not start" : command;
      System.err.println("plant-store " + failure + ": " + reasonFor(e));
      System.exit(1);
    }
  }

  private static void serve(String... arguments) {
    long began = System.nanoTime();
    // Before the first logger is created, because some of these settings configure it.
    readSettings("serve", arguments);
    requireLogback(LoggerFactory.getILoggerFactory());
    DoubtfulSettings.warnings()
        .forEach(warning ->
            LoggerFactory.getLogger(Main.class).warn("Check the configuration: {}", warning));
    ApplicationContext context = ApplicationContext.builder().start();
    context.getBean(Shutdown.class).runAtExit();
    try {
      context.getBean(EmbeddedServer.class).start();
    } catch (RuntimeException e) {
      throw new ConfigurationException(
          "PORT and MANAGEMENT_PORT must be free ports that this user may open, but "
              + (e.getMessage() + ": " + reasonFor(e)));
    }
    long millis = Duration.ofNanos(System.nanoTime() - began).toMillis();
    LoggerFactory.getLogger(Main.class).info("Startup completed in {} ms", millis);
  }

  /** Requires that no log of a neighbour on the class path has been chosen. */
  static void requireLogback(ILoggerFactory log) {
    if (!(log instanceof LoggerContext)) {
      URL file = log.getClass().getResource(log.getClass().getSimpleName() + ".class");
      throw new ConfigurationException(
          "the log must be Logback by slf4j-api 2, but is that of " + file + "; remove this jar");
    }
  }

  /** Runs a command of the service or an adapter, and returns its exit code. */
  static int run(String command, String... arguments) {
    PrintWriter output = new PrintWriter(System.out, true, UTF_8); // in every locale
    PrintWriter errors = new PrintWriter(System.err, true, UTF_8);
    // Before the first logger is created: standard output is for the command alone.
    System.setOut(System.err);
    System.setProperty("root.level", "warn");
    Map<String, List<ToolProvider>> tools =
        ServiceLoader.load(ToolProvider.class).stream()
            .filter(each -> !each.type().getModule().isNamed()) // others are the JDK's
            .map(ServiceLoader.Provider::get)
            .collect(groupingBy(ToolProvider::name));
    List<ToolProvider> parts = tools.get(command);
    if (parts == null) {
      throw new ConfigurationException(
          "there is no such command; " + Spelling.remedy(command, tools.keySet()));
    }
    String[] options = readSettings(command, arguments).toArray(String[]::new);
    int exitCode =
        parts.stream().mapToInt(part -> part.run(output, errors, options)).max().orElse(0);
    if (output.checkError()) {
      throw new ConfigurationException("standard output must be open, but cannot be written");
    }
    return exitCode;
  }

  /**
   * Passes the settings among the arguments on to each context, requires that all settings are
   * legible, and returns the command's own options.
   */
  private static List<String> readSettings(String command, String... arguments) {
    LegibleSettings.requireLogging(System.getenv()); // the modules that declare variables log
    Arguments read = Arguments.of(command, LegibleSettings.declared(), arguments);
    Map<String, String> settings = new HashMap<>(System.getenv());
    settings.putAll(read.settings());
    LegibleSettings.require(settings);
    ServiceStart.setArguments(read.settings());
    return read.options();
  }

  /** Returns the innermost configuration error, or else the root cause, in one line. */
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
    // Libraries format numbers in their messages for the default locale; all messages are English.
    Locale.setDefault(Locale.ENGLISH);
    // A second handshake on a connection has no deadline.
    System.setProperty("jdk.tls.rejectClientInitiatedRenegotiation", "true");
    // The JVM would cache an address for 30 s and a failed look-up for 10 s, but a fail-over may
    // change the address. Values of operators stay.
    System.getProperties().putIfAbsent("sun.net.inetaddr.ttl", "1");
    if ("10".equals(Security.getProperty("networkaddress.cache.negative.ttl"))) {
      Security.setProperty("networkaddress.cache.negative.ttl", "0");
    }
  }
}
