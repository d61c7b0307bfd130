package org.example.nursery.bean;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextBuilder;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.annotation.ContextConfigurer;
import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.exceptions.ConfigurationException;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/** The settings of the store: stops a start that cannot work, and reports them to {@code check}. */
@ContextConfigurer
public final class MemoryStart
    implements ApplicationContextConfigurer,
        Function<Environment, List<Map.Entry<String, Supplier<String>>>> {

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

  /** Returns each requirement with its name: its finding, or a ConfigurationException. */
  @Override
  public List<Map.Entry<String, Supplier<String>>> apply(Environment settings) {
    return List.of(Map.entry("memory", () -> requireUsable(settings)));
  }
}
