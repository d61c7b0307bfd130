package org.plantstore.app;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.annotation.ContextConfigurer;
import io.micronaut.context.env.Environment;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Locale;
import java.util.Map;

/** Stops a start whose settings cannot work, or whose ports are in use. */
@ContextConfigurer
public final class ServiceSettings implements ApplicationContextConfigurer {

  static final String DRAIN_SECONDS = "drain.seconds";

  @Override
  public void configure(ApplicationContext context) {
    Environment settings = context.getEnvironment();
    int port = number(settings, "port", "a port", 1, 65_535);
    int managementPort = number(settings, "management.port", "a port", 1, 65_535);
    if (port == managementPort) {
      throw new ConfigurationException(
          "PORT and MANAGEMENT_PORT must differ, but both are " + port);
    }
    number(settings, DRAIN_SECONDS, "a whole number", 0, 9_999);
    requireFree("PORT", port);
    requireFree("MANAGEMENT_PORT", managementPort);
  }

  /** Requires the variables of logging to be usable; throws ConfigurationException otherwise. */
  static void requireLogSettings(Map<String, String> environment) {
    requireEither(environment, "LOG_FORMAT", "text", "json");
    requireEither(environment, "ACCESS_LOG", "off", "on");
  }

  private static void requireEither(
      Map<String, String> environment, String variable, String one, String other) {
    String value = environment.getOrDefault(variable, one);
    if (!value.equals(one) && !value.equals(other)) {
      throw new ConfigurationException(
          variable + " must be " + one + " or " + other + ", but is " + value);
    }
  }

  private static int number(Environment settings, String property, String kind, int min, int max) {
    String value = settings.getRequiredProperty(property, String.class);
    int number = value.matches("[0-9]{1,5}") ? Integer.parseInt(value) : -1;
    if (number < min || number > max) {
      String variable = property.replace('.', '_').toUpperCase(Locale.ROOT);
      throw new ConfigurationException(
          variable + " must be " + kind + " from " + min + " to " + max + ", but is " + value);
    }
    return number;
  }

  /**
   * Requires a free port. The server opens its two ports one after the other; this check prevents a
   * start with one port. Binds without listening, so that no client can connect.
   */
  private static void requireFree(String variable, int port) {
    try (Socket socket = new Socket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(port));
    } catch (IOException e) {
      throw new ConfigurationException(
          variable + " must be a free port, but " + port + " cannot be opened: " + e.getMessage());
    }
  }
}
