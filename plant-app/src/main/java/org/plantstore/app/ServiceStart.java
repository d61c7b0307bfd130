package org.plantstore.app;

import io.micrometer.core.instrument.config.MeterFilter;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextBuilder;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.annotation.ContextConfigurer;
import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.env.PropertySource.Origin;
import io.micronaut.context.env.PropertySource.PropertyConvention;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.Set;
import org.slf4j.LoggerFactory;

/** Declares the service's own settings, rejects invalid values, and logs the values. */
@ContextConfigurer
public final class ServiceStart implements ApplicationContextConfigurer {

  /** The framework's metrics whose names {@code promtool} rejects. */
  private static final Set<String> MISNAMED = Set.of("process.cpu.time", "system.cpu.count");

  /** The settings from the command line, which every application context reads. */
  private static volatile Map<String, Object> arguments = Map.of();

  /** Applies the settings from the command line. They override environment variables. */
  static void setArguments(Map<String, String> valuesByVariable) {
    arguments = Map.copyOf(valuesByVariable);
  }

  /**
   * Adds the settings from the command line, and declares the service's environment variables. All
   * other variables are hidden from the framework, which would otherwise derive many property names
   * from each variable by replacing underscores with dots and hyphens.
   */
  @Override
  public void configure(ApplicationContextBuilder builder) {
    builder.environmentVariableIncludes(
        ("PORT MANAGEMENT_PORT LISTEN_ADDRESS MANAGEMENT_ADDRESS DRAIN_SECONDS"
                + " LOG_FORMAT LOG_LEVEL ACCESS_LOG")
            .split(" "));
    builder.propertySources(
        PropertySource.of(
            "arguments",
            arguments,
            PropertyConvention.ENVIRONMENT_VARIABLE,
            Origin.of("arguments")));
  }

  /**
   * Returns a position after the listeners whose settings this class logs, but before the store,
   * which waits for its database.
   */
  @Override
  public int getOrder() {
    return LOWEST_PRECEDENCE - 1;
  }

  @Override
  public void configure(ApplicationContext context) {
    Environment settings = context.getEnvironment();
    // Reads the framework's properties, because they determine the ports that the server opens.
    int port = number(settings, "PORT", "micronaut.server.port", "a port", 1, 65_535);
    int managementPort =
        number(settings, "MANAGEMENT_PORT", "endpoints.all.port", "a port", 1, 65_535);
    if (port == managementPort) {
      throw new ConfigurationException(
          "PORT and MANAGEMENT_PORT must differ, but both are " + port);
    }
    number(settings, "DRAIN_SECONDS", "drain.seconds", "a whole number", 0, 9_999);
    String address = address(settings, "LISTEN_ADDRESS", "listen.address");
    String managementAddress = address(settings, "MANAGEMENT_ADDRESS", "management.address");
    context.registerSingleton(
        MeterFilter.class, MeterFilter.deny(meter -> MISNAMED.contains(meter.getName())));
    LoggerFactory.getLogger(ServiceStart.class)
        .info(
            "plant-store {} is starting on Java {}: port {} on {}, management port {} on {},"
                + " store {}, keys from {}",
            Version.text(),
            Runtime.version(),
            port,
            address,
            managementPort,
            managementAddress,
            settings.getProperty(InstalledStores.NAME, String.class).orElse("unknown"),
            settings.getProperty("jwt.keys", String.class).orElse("unknown"));
  }

  private static String address(Environment settings, String variable, String property) {
    String address = settings.getRequiredProperty(property, String.class);
    if (address.isEmpty()) {
      throw new ConfigurationException(variable + " must not be empty; set a value or remove it");
    }
    try (Socket socket = new Socket()) {
      socket.bind(new InetSocketAddress(InetAddress.getByName(address), 0)); // does not listen
      return address;
    } catch (IOException e) {
      String reason = e instanceof UnknownHostException ? "it does not resolve" : e.getMessage();
      throw new ConfigurationException(
          (variable
                  + " must be an IP address of this machine, or a host name that resolves to one,")
              + (" without a port or a scheme, but is \"" + address + "\": " + reason));
    }
  }

  private static int number(
      Environment settings, String variable, String property, String kind, int min, int max) {
    String value = settings.getRequiredProperty(property, String.class);
    int number = value.matches("[0-9]{1,5}") ? Integer.parseInt(value) : -1;
    if (number < min || number > max) {
      String range = kind + " from " + min + " to " + max;
      throw new ConfigurationException(
          variable + " must be " + range + ", but is \"" + value + '"');
    }
    return number;
  }
}
