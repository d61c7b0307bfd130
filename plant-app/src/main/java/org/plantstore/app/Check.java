package org.plantstore.app;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextBuilder;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.ConfigurableBeanContext;
import io.micronaut.context.DefaultApplicationContextBuilder;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.spi.ToolProvider;
import org.slf4j.LoggerFactory;

/**
 * The service's part of the command {@code check}: whether it can start with its own settings and
 * the store on the class path. Each adapter has a command of this name with its part.
 */
public final class Check implements ToolProvider {

  static final String NAME = "check";

  @Override
  public String name() {
    return NAME;
  }

  /**
   * Prints a line for Java, one for the service, and one for each warning; returns 0 if a start can
   * succeed, or 1.
   */
  @Override
  public int run(PrintWriter out, PrintWriter err, String... arguments) {
    out.println("✔ java: " + Runtime.version() + " of " + System.getProperty("java.vendor"));
    DoubtfulSettings.warnings().forEach(warning -> out.println("⚠ service: " + warning));
    // Without the other configurers, which wait for the database and migrate the tables.
    ApplicationContextBuilder builder =
        new DefaultApplicationContextBuilder() {
          @Override
          public Optional<ApplicationContextConfigurer> getContextConfigurer() {
            return Optional.of(new InstalledStores());
          }
        };
    try (ApplicationContext context = builder.build()) {
      Main.requireLogback(LoggerFactory.getILoggerFactory());
      context.getEnvironment().start();
      ((ConfigurableBeanContext) context).configure();
      new ServiceStart().configure(context);
      out.println("✔ service: its own settings and the store are valid");
      return 0;
    } catch (RuntimeException | LinkageError e) {
      out.println("✘ service: " + Main.reasonFor(e));
      return 1;
    }
  }
}
