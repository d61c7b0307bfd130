package org.plantstore.app;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.PrintWriter;
import java.util.spi.ToolProvider;

/** The part of the command {@code check} that is about ports, logs and the JVM. */
public final class ServiceCheck implements ToolProvider {

  @Override
  public String name() {
    return Check.NAME;
  }

  /**
   * Writes a line for each finding: to {@code out} if it is as it should be, and otherwise to
   * {@code err}, with what to do.
   *
   * @return 0 if all is as it should be, and otherwise 1
   */
  @Override
  public int run(PrintWriter out, PrintWriter err, String... arguments) {
    boolean isUsable = true;
    try (ApplicationContext context = ApplicationContext.builder().args(arguments).build()) {
      ServiceSettings.requireLogSettings(System.getenv());
      ServiceSettings.requireUsable(context.getEnvironment().start());
      out.println("service: the settings can work, and the ports are free");
    } catch (ConfigurationException e) {
      err.println("service: " + e.getMessage());
      isUsable = false;
    }
    out.println("java: " + Runtime.version() + " of " + System.getProperty("java.vendor"));
    return isUsable ? 0 : 1;
  }
}
