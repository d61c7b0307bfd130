package org.plantstore.app;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextBuilder;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.annotation.ContextConfigurer;
import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Stops a start whose settings cannot work, or whose ports are in use, and logs what starts. */
@ContextConfigurer
public final class ServiceStart implements ApplicationContextConfigurer {

  /** All addresses of this machine. */
  private static final String ANY = "*";

  static final String DRAIN_SECONDS = "drain.seconds";

  /**
   * Declares the variables of the service. Of a variable that no module declares, nothing is read:
   * the framework would try each of its underscores as a dot and as a hyphen.
   */
  @Override
  public void configure(ApplicationContextBuilder builder) {
    builder.environmentVariableIncludes(
        ("PORT MANAGEMENT_PORT LISTEN_ADDRESS MANAGEMENT_ADDRESS DRAIN_SECONDS"
                + " LOG_FORMAT LOG_LEVEL ACCESS_LOG")
            .split(" "));
  }

  /** Runs behind the modules whose findings it uses, and before the store waits for a database. */
  @Override
  public int getOrder() {
    return LOWEST_PRECEDENCE - 1;
  }

  @Override
  public void configure(ApplicationContext context) {
    Environment settings = context.getEnvironment();
    // The ports that the server opens, in case that a setting of the framework changes one.
    int port = number(settings, "PORT", "micronaut.server.port", "a port", 1, 65_535);
    int managementPort =
        number(settings, "MANAGEMENT_PORT", "endpoints.all.port", "a port", 1, 65_535);
    if (port == managementPort) {
      throw new ConfigurationException(
          "PORT and MANAGEMENT_PORT must differ, but both are " + port);
    }
    number(settings, "DRAIN_SECONDS", DRAIN_SECONDS, "a whole number", 0, 9_999);
    String address = address(settings, "LISTEN_ADDRESS", "listen.address", ANY);
    String managementAddress =
        address(settings, "MANAGEMENT_ADDRESS", "management.address", address);
    requireFree("LISTEN_ADDRESS", address, "PORT", port);
    requireFree("MANAGEMENT_ADDRESS", managementAddress, "MANAGEMENT_PORT", managementPort);
    settings.addPropertySource(
        PropertySource.of("listeners", listeners(settings, address, managementAddress)));
    Logger log = LoggerFactory.getLogger(ServiceStart.class); // configured by checked settings
    log.info(
        "plant-store {} starts on Java {}: port {} of {}, management port {} of {}, store {}, keys of {}",
        Version.text(),
        Runtime.version(),
        port,
        address,
        managementPort,
        managementAddress,
        settings.getProperty(InstalledStores.NAME, String.class).orElse("unknown"),
        settings.getProperty("jwt.keys", String.class).orElse("unknown"));
  }

  private static String address(
      Environment settings, String variable, String property, String otherwise) {
    String address = settings.getProperty(property, String.class).orElse(otherwise);
    if (address.isEmpty()) {
      throw new ConfigurationException(variable + " must have a value or not be set, but is empty");
    }
    return address;
  }

  /** Returns the listeners that the framework has by default, each at its address. */
  private static Map<String, Object> listeners(
      Environment settings, String address, String managementAddress) {
    if (managementAddress.equals(address)) {
      return address.equals(ANY) ? Map.of() : Map.of("micronaut.server.host", address);
    }
    boolean isTls =
        settings.getProperty("micronaut.server.ssl.enabled", Boolean.class).orElse(false);
    String api = "micronaut.server.netty.listeners.api.";
    String management = "micronaut.server.netty.listeners.management.";
    Map<String, Object> listeners =
        new HashMap<>(
            Map.of(
                api + "host",
                address,
                api + "port",
                "${micronaut.server.port}",
                api + "ssl",
                isTls,
                api + "key-name",
                "${micronaut.server.ssl.key-name:}",
                management + "host",
                managementAddress,
                management + "port",
                "${endpoints.all.port}",
                management + "expose-default-routes",
                false,
                management + "support-graceful-shutdown",
                false));
    listeners.values().removeIf(ANY::equals);
    return listeners;
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

  /**
   * Requires a free port at an address, or at all if it is empty. The server opens its two ports
   * one after the other; this check prevents a start with one port. Binds without listening, so
   * that no client can connect.
   */
  private static void requireFree(String ofAddress, String address, String ofPort, int port) {
    bind(address, 0, ofAddress + " must be an address of this machine, but " + address);
    bind(address, port, ofPort + " must be a free port, but " + port);
  }

  private static void bind(String address, int port, String demand) {
    try (Socket socket = new Socket()) {
      socket.setReuseAddress(true);
      socket.bind(
          address.equals(ANY)
              ? new InetSocketAddress(port)
              : new InetSocketAddress(InetAddress.getByName(address), port));
    } catch (IOException e) {
      throw new ConfigurationException(demand + " cannot be opened: " + e.getMessage());
    }
  }
}
