package org.plantstore.adapter.persistence;

import io.micronaut.context.ApplicationContext;
import java.io.PrintWriter;
import java.util.spi.ToolProvider;

/**
 * The command {@code migrate}: brings the tables up to date, and ends. It reads only the settings
 * of the database. A service finds it as a {@link ToolProvider}, without depending on this module.
 */
public final class MigrateCommand implements ToolProvider {

  @Override
  public String name() {
    return "migrate";
  }

  /** Migrates, and returns 0; throws ConfigurationException if that fails. */
  @Override
  public int run(PrintWriter out, PrintWriter err, String... arguments) {
    try (ApplicationContext context = ApplicationContext.builder().args(arguments).build()) {
      new DatabaseStart(new DatabaseSettings(context.getEnvironment().start()), true).prepare();
      out.println("The tables are up to date.");
      return 0;
    }
  }
}
