package org.plantstore.adapter.http;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.PrintWriter;
import java.util.spi.ToolProvider;

/** The part of the command {@code check} that is about the limits of requests. */
public final class LimitCheck implements ToolProvider {

  @Override
  public String name() {
    return "check";
  }

  /**
   * Writes a line: to {@code out} if the limits can work, and otherwise to {@code err}, with what
   * to do.
   *
   * @return 0 if the limits can work, and otherwise 1
   */
  @Override
  public int run(PrintWriter out, PrintWriter err, String... arguments) {
    try (ApplicationContext context = ApplicationContext.builder().args(arguments).build()) {
      HttpSettings.requireLimits(context.getEnvironment().start());
      out.println("limits: they can work");
      return 0;
    } catch (ConfigurationException e) {
      err.println("limits: " + e.getMessage());
      return 1;
    }
  }
}
