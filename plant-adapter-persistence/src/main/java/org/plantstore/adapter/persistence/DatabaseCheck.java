package org.plantstore.adapter.persistence;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.env.Environment;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.PrintWriter;
import java.util.List;
import java.util.spi.ToolProvider;

/**
 * This adapter's part of the command {@code check}: prints the faults for which a start would
 * refuse the database as it is now, or that it has none. A service finds it as a {@link
 * ToolProvider}.
 */
public final class DatabaseCheck implements ToolProvider {

  @Override
  public String name() {
    return "check";
  }

  /** Prints a line for each fault, and returns 1, or prints that there is none, and returns 0. */
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
        out.println("✔ database: " + settings.address + " can keep plants");
      }
      return faults.isEmpty() ? 0 : 1;
    } catch (ConfigurationException e) {
      out.println("✘ database: " + e.getMessage());
      return 1;
    }
  }
}
