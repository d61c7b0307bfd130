package org.plantstore.app;

import static java.nio.charset.StandardCharsets.UTF_8;

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
import java.util.List;
import java.util.Locale;
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
   * @param arguments a command, unless it is {@code serve}, its options, and settings that override
   *     the environment (but not its logging), each as {@code --name=value}
   */
  public static void main(String... arguments) {
    configureJvm();
    boolean hasCommand = arguments.length > 0 && !isSetting(arguments[0]);
    String command = hasCommand ? arguments[0] : "serve";
    String[] others = hasCommand ? Arrays.copyOfRange(arguments, 1, arguments.length) : arguments;
    try {
      switch (command) {
        case "--help" -> System.out.print(Help.text());
        case "--version" -> System.out.println("plant-store " + Version.text());
        case "serve" -> serve(others);
        default -> System.exit(run(command, others));
      }
    } catch (Throwable e) { // also an error must end the process
      String failure = command.equals("serve") ? "does not start" : nameIn(command);
      System.err.println("plant-store " + failure + ": " + reasonFor(e));
      System.exit(1);
    }
  }

  private static void serve(String... settings) {
    long began = System.nanoTime();
    // Before the first logger is created, because some of these settings configure it.
    requireSettings("serve", settings);
    requireLogback(LoggerFactory.getILoggerFactory());
    ApplicationContext context = ApplicationContext.builder().args(settings).start();
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
    List<ToolProvider> tools =
        ServiceLoader.load(ToolProvider.class).stream()
            .filter(each -> !each.type().getModule().isNamed()) // others are the JDK's
            .map(ServiceLoader.Provider::get)
            .filter(each -> each.name().equals(command))
            .toList();
    if (tools.isEmpty()) {
      throw new ConfigurationException("there is no such command; see plant-store --help");
    }
    PrintWriter output = new PrintWriter(System.out, true, UTF_8); // in every locale
    PrintWriter errors = new PrintWriter(System.err, true, UTF_8);
    // Before the first logger is created: standard output is for the command alone.
    System.setOut(System.err);
    System.setProperty("root.level", "warn");
    requireSettings(command, arguments);
    int exitCode =
        tools.stream().mapToInt(tool -> tool.run(output, errors, arguments)).max().orElse(0);
    if (output.checkError()) {
      throw new ConfigurationException("standard output must be open, but cannot be written");
    }
    return exitCode;
  }

  /** Requires arguments that are settings, or the option of a check, and legible settings. */
  private static void requireSettings(String command, String... arguments) {
    for (String argument : arguments) {
      if (!isSetting(argument) && !(command.equals(Check.NAME) && argument.equals("--token"))) {
        String fault =
            argument.startsWith("--") ? "unusable option " + nameIn(argument) : "unusable argument";
        throw new ConfigurationException(fault + "; see plant-store --help");
      }
    }
    LegibleSettings.require(System.getenv(), arguments);
  }

  /** Returns the beginning that can be a name: the rest may be a secret. */
  private static String nameIn(String argument) {
    return argument.replaceFirst("(?s)[^a-zA-Z.-].*", "");
  }

  private static boolean isSetting(String argument) {
    return argument.startsWith("--") && argument.contains("=");
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
