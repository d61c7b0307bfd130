package org.plantstore.app;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.annotation.ContextConfigurer;
import io.micronaut.context.exceptions.ConfigurationException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Refuses to start with settings of the service itself that cannot work. */
@ContextConfigurer
public final class ServiceSettings implements ApplicationContextConfigurer {

  private static final Set<String> LOG_FORMATS = Set.of("text", "json");
  private static final int MAX_PORT = 65_535;

  @Override
  public void configure(ApplicationContext context) {
    int port = port(context, "PORT", "port", 8080);
    int managementPort = port(context, "MANAGEMENT_PORT", "management.port", 8081);
    if (port == managementPort) {
      throw new ConfigurationException(
          "PORT and MANAGEMENT_PORT must differ, but both are " + port);
    }
  }

  static void requireLogFormat(@Nullable String format) {
    if (format != null && !LOG_FORMATS.contains(format)) {
      throw new ConfigurationException("LOG_FORMAT must be text or json, but is " + format);
    }
  }

  private static int port(
      ApplicationContext context, String variable, String property, int defaultPort) {
    String value = context.getProperty(property, String.class).orElse(String.valueOf(defaultPort));
    if (value.matches("[0-9]{1,5}")) {
      int port = Integer.parseInt(value);
      if (port >= 1 && port <= MAX_PORT) {
        return port;
      }
    }
    throw new ConfigurationException(
        variable + " must be a port from 1 to " + MAX_PORT + ", but is " + value);
  }
}
