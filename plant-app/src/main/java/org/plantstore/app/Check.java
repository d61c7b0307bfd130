package org.plantstore.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextBuilder;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.ConfigurableBeanContext;
import io.micronaut.context.DefaultApplicationContextBuilder;
import io.micronaut.context.env.Environment;
import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.core.io.service.SoftServiceLoader;
import io.micronaut.core.order.OrderUtil;
import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The command {@code check}: reports whether a start on this machine with these settings would meet
 * its requirements. It collects those of the service, and those of each {@link
 * ApplicationContextConfigurer} that is a function from the settings to requirements. A requirement
 * has a name, and returns its finding, or throws {@link ConfigurationException} with the remedy.
 */
final class Check {

  static final String NAME = "check";

  /** {@code --token} has standard input read. */
  static final List<String> OPTIONS = List.of("--token");

  private boolean isOk = true;

  // The marks are not in every locale's charset.
  private final PrintStream output = new PrintStream(System.out, true, UTF_8);

  /** Asks each requirement; returns 0 if all are met, and otherwise 1. */
  static int run(String... arguments) {
    Check check = new Check();
    keepOutputForFindings();
    check.addService(arguments);
    check.add(true, "java", Runtime.version() + " of " + System.getProperty("java.vendor"));
    check.addAdapters(arguments);
    return check.isOk ? 0 : 1;
  }

  /** Sends other output to standard error. Must run before the first logger exists. */
  private static void keepOutputForFindings() {
    System.setOut(System.err);
    System.setProperty("root.level", "warn");
    // The settings may be wrong.
    System.setProperty("LOG_FORMAT", "text");
    System.setProperty("ACCESS_LOG", "off");
  }

  private void addService(String... arguments) {
    // Without the other configurers, which wait for the database and migrate the tables.
    ApplicationContextBuilder builder =
        new DefaultApplicationContextBuilder() {
          @Override
          public Optional<ApplicationContextConfigurer> getContextConfigurer() {
            return Optional.of(new InstalledStores());
          }
        };
    try (ApplicationContext context = builder.args(arguments).build()) {
      LegibleSettings.require(System.getenv(), arguments);
      context.getEnvironment().start();
      ((ConfigurableBeanContext) context).configure();
      new ServiceStart().configure(context);
      new InstalledStores().tryProvided();
      add(true, "service", "the settings can work, and the ports are free");
    } catch (Exception | LinkageError e) { // also of the store's close()
      add(false, "service", Main.reasonFor(e));
    }
  }

  private void addAdapters(String... arguments) {
    try (ApplicationContext context = ApplicationContext.builder().args(arguments).build()) {
      Environment settings = context.getEnvironment().start();
      SoftServiceLoader.load(ApplicationContextConfigurer.class).collectAll().stream()
          .sorted(OrderUtil.COMPARATOR)
          .filter(Function.class::isInstance)
          .forEach(adapter -> requirementsOf(adapter, settings).forEach(this::add));
    } catch (RuntimeException | LinkageError e) {
      add(false, "settings", Main.reasonFor(e));
    }
  }

  @SuppressWarnings("unchecked") // the only type of function that a configurer may be
  private static List<Map.Entry<String, Supplier<String>>> requirementsOf(
      ApplicationContextConfigurer adapter, Environment settings) {
    return ((Function<Environment, List<Map.Entry<String, Supplier<String>>>>) adapter)
        .apply(settings);
  }

  private void add(Map.Entry<String, Supplier<String>> requirement) {
    try {
      add(true, requirement.getKey(), requirement.getValue().get());
    } catch (RuntimeException | LinkageError e) {
      add(false, requirement.getKey(), Main.reasonFor(e));
    }
  }

  private void add(boolean isMet, String subject, String text) {
    isOk &= isMet;
    output.println((isMet ? "✔ " : "✘ ") + subject + ": " + text);
  }
}
