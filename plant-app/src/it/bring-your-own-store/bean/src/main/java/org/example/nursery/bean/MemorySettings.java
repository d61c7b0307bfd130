package org.example.nursery.bean;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextBuilder;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.annotation.ContextConfigurer;
import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.PrintWriter;
import java.util.Map;
import java.util.spi.ToolProvider;

/** The settings of the store: stops a start that cannot work, and reports them to {@code check}. */
@ContextConfigurer
public final class MemorySettings implements ApplicationContextConfigurer, ToolProvider {

  static final String MAX_PLANTS = "nursery.max.plants";

  /** Declares the variable, without which it would not be read, and its default. */
  @Override
  public void configure(ApplicationContextBuilder builder) {
    builder.environmentVariableIncludes("NURSERY_MAX_PLANTS");
    // Of the lowest precedence, so that the variable and an argument override it.
    builder.propertySources(
        PropertySource.of("nursery", Map.of(MAX_PLANTS, 1_000), Integer.MIN_VALUE));
  }

  /** Runs before any port is opened. */
  @Override
  public void configure(ApplicationContext context) {
    requireUsable(context.getEnvironment());
  }

  private static String requireUsable(Environment settings) {
    String value = settings.getRequiredProperty(MAX_PLANTS, String.class);
    if (!value.matches("[1-9][0-9]{0,5}")) {
      throw new ConfigurationException(
          "NURSERY_MAX_PLANTS must be a whole number from 1 to 999999, but is \"" + value + '"');
    }
    return "at most " + value + " plants";
  }

  @Override
  public String name() {
    return "check";
  }

  /** Writes the subject, a tab and the finding to {@code out}, or the remedy to {@code err}. */
  @Override
  public int run(PrintWriter out, PrintWriter err, String... arguments) {
    try (ApplicationContext context = ApplicationContext.builder().args(arguments).build()) {
      out.println("memory\t" + requireUsable(context.getEnvironment().start()));
      return 0;
    } catch (ConfigurationException e) {
      err.println("memory\t" + e.getMessage());
      return 1;
    }
  }
}
