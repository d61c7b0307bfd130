package org.plantstore.adapter.http;

import com.sun.management.UnixOperatingSystemMXBean;
import io.micronaut.context.env.Environment;
import io.micronaut.context.exceptions.ConfigurationException;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Locale;
import org.plantstore.adapter.http.observe.AllowedOrigins;
import org.plantstore.adapter.http.tls.TlsFiles;

/**
 * The requirements of this adapter. Each returns its finding, or throws {@link
 * ConfigurationException} with the first remedy. A start stops at the first that is not met; the
 * service's command {@code check} goes on with the next.
 */
final class HttpRequirements {

  private static final List<String> LIMITS =
      List.of(
          "max.body.bytes",
          "max.concurrent.creates",
          "max.connections",
          "request.timeout.seconds",
          "idle.timeout.seconds",
          "create.timeout.seconds");

  /** Open files besides connections: jars, the database, and probes. */
  private static final long OTHER_FILES = 32;

  /**
   * Returns how many connections the limit of open files allows. A quarter is for connections that
   * the kernel has not released yet.
   */
  static long maxConnections() {
    return maxOpenFiles() * 3 / 4 - OTHER_FILES;
  }

  static long maxOpenFiles() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
        ? unix.getMaxFileDescriptorCount()
        : Integer.MAX_VALUE;
  }

  private HttpRequirements() {}

  static String settings(Environment settings) {
    requireLimits(settings);
    origins(settings);
    Libraries.require(settings);
    String connections = settings.getRequiredProperty("max.connections", String.class);
    String files = ", with a limit of " + maxOpenFiles() + " open files";
    return "at most " + connections + " connections" + files;
  }

  private static void requireLimits(Environment settings) {
    for (String property : LIMITS) {
      String value = settings.getRequiredProperty(property, String.class);
      if (!value.matches("[1-9][0-9]{0,8}")) {
        String variable = property.replace('.', '_').toUpperCase(Locale.ROOT);
        throw new ConfigurationException(
            variable + " must be a whole number from 1 to 999999999, but is \"" + value + '"');
      }
    }
    long maxBodyBytes = settings.getRequiredProperty("max.body.bytes", Long.class);
    // Reading one body may take almost half of the heap.
    long bound = Runtime.getRuntime().maxMemory() / 32;
    if (maxBodyBytes > bound) {
      String demand = "at most " + bound + ", a thirty-second of the heap (-Xmx)";
      throw new ConfigurationException(
          "MAX_BODY_BYTES must be " + demand + ", but is " + maxBodyBytes);
    }
    long connections = settings.getRequiredProperty("max.connections", Long.class);
    if (connections > maxConnections()) {
      String demand = "MAX_CONNECTIONS must be at most " + maxConnections() + ", because only ";
      String files = maxOpenFiles() + " files can be open (ulimit -n), but is ";
      throw new ConfigurationException(demand + files + connections);
    }
  }

  static AllowedOrigins origins(Environment settings) {
    return AllowedOrigins.of(settings.getProperty("cors.allowed-origins", String.class).orElse(""));
  }

  static String certificate(Environment settings) {
    return TlsFiles.of(settings)
        .map(files -> "for " + files.finding())
        .orElse("none; a proxy in front of the service must terminate TLS");
  }
}
