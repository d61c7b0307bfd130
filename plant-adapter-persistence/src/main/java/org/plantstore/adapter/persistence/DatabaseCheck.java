package org.plantstore.adapter.persistence;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.env.Environment;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.PrintWriter;
import java.util.List;
import java.util.spi.ToolProvider;

/**
 * Checks the database when the {@code check} command is run. Prints each problem that would make
 * startup fail, or confirms that there is none. The service finds this class as a {@link
 * ToolProvider}. This class is stateless and therefore thread-safe.
 */
public final class DatabaseCheck implements ToolProvider {

  @Override
  public String name() {
    return "check";
  }

  /**
   * Prints one line for each problem, or one line that confirms that the database can store plants.
   * Also prints a warning if two of the settings conflict. Reads the database settings from the
   * environment. Returns 1 if there is a problem, or 0 otherwise.
   */
  @Override
  public int run(PrintWriter out, PrintWriter err, String... arguments) {
    try (ApplicationContext context = ApplicationContext.builder().build()) {
      return report(context.getEnvironment().start(), out);
    }
  }

  static int report(Environment environment, PrintWriter out) {
    try {
      DatabaseSettings settings = new DatabaseSettings(environment);
      settings.warning().ifPresent(warning -> out.println("⚠ database: " + warning));
      List<String> faults = new DatabaseStart(settings, settings.migrates).check();
      faults.forEach(fault -> out.println("✘ database: " + fault));
      if (faults.isEmpty()) {
        out.println("✔ database: " + settings.address + " can store plants");
      }
      return faults.isEmpty() ? 0 : 1;
    } catch (ConfigurationException e) {
      out.println("✘ database: " + e.getMessage());
      return 1;
    }
  }
}
