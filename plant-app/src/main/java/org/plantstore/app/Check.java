package org.plantstore.app;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextBuilder;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.ConfigurableBeanContext;
import io.micronaut.context.DefaultApplicationContextBuilder;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.spi.ToolProvider;

/**
 * Runs the service's part of the {@code check} command. This part reports whether the service can
 * start with its own settings and with the store on the class path. Each adapter provides another
 * part, which checks the adapter's settings.
 */
public final class Check implements ToolProvider {

  static final String NAME = "check";

  @Override
  public String name() {
    return NAME;
  }

  /**
   * Prints one line about Java, one line for each warning, and one line about the service. Returns
   * 0 if the service can start, and 1 if it cannot.
   */
  @Override
  public int run(PrintWriter out, PrintWriter err, String... arguments) {
    out.println("✔ java: " + Runtime.version() + " by " + System.getProperty("java.vendor"));
    DoubtfulSettings.warnings().forEach(warning -> out.println("⚠ service: " + warning));
    // Runs no configurer except InstalledStores, because other configurers would wait for the
    // database and migrate the tables.
    ApplicationContextBuilder builder =
        new DefaultApplicationContextBuilder() {
          @Override
          public Optional<ApplicationContextConfigurer> getContextConfigurer() {
            return Optional.of(new InstalledStores());
          }
        };
    try (ApplicationContext context = builder.build()) {
      context.getEnvironment().start();
      ((ConfigurableBeanContext) context).configure();
      new ServiceStart().configure(context);
      out.println("✔ service: its own settings are valid, and a store is installed");
      return 0;
    } catch (RuntimeException | LinkageError e) {
      out.println("✘ service: " + Main.reasonFor(e));
      return 1;
    }
  }
}
