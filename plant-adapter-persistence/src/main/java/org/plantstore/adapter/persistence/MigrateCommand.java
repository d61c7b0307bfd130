package org.plantstore.adapter.persistence;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.PrintWriter;
import java.util.spi.ToolProvider;

/**
 * The command {@code migrate}: brings the tables up to date, and ends. It needs the settings of the
 * database alone. A service finds it as a {@link ToolProvider}, without depending on this module.
 */
public final class MigrateCommand implements ToolProvider {

  @Override
  public String name() {
    return "migrate";
  }

  /** Returns 0 if the tables are up to date, and otherwise 1, after a line that says why. */
  @Override
  public int run(PrintWriter out, PrintWriter err, String... arguments) {
    try (ApplicationContext settings = ApplicationContext.builder().args(arguments).build()) {
      PersistenceSettings.prepare(settings.getEnvironment().start(), true);
      out.println("The tables are up to date.");
      return 0;
    } catch (ConfigurationException e) {
      err.println("plant-store migrate: " + e.getMessage());
      return 1;
    }
  }
}
