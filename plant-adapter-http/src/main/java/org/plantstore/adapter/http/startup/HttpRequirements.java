package org.plantstore.adapter.http.startup;

import com.sun.management.UnixOperatingSystemMXBean;
import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.core.io.ResourceLoader;
import java.lang.management.ManagementFactory;
import java.net.URL;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.plantstore.adapter.http.cors.AllowedOrigins;

/**
 * Checks the limits and the class path before any port is opened. Each check throws {@link
 * ConfigurationException} if its requirement is not met.
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

  /**
   * The heap to reserve for each connection, in bytes: twice what a connection occupies while it
   * waits for the rest of a small request. A TLS connection occupies three times as much heap.
   */
  private static final int HEAP_BYTES_PER_CONNECTION = 12 * 1024;

  /** The number of open files to reserve for jars, database connections, and probes. */
  private static final long OTHER_FILES = 32;

  private HttpRequirements() {}

  /** Sets the default of MAX_CONNECTIONS, which depends on the heap, the file limit, and TLS. */
  static void addDefaultMaxConnections(Environment settings) {
    long heapLimit = Runtime.getRuntime().maxMemory() / HEAP_BYTES_PER_CONNECTION;
    long plain = Math.min(heapLimit, maxConnections());
    boolean isTls = settings.containsProperty("tls.certificate");
    settings.addPropertySource(
        PropertySource.of(
            "connections", Map.of("default.max-connections", isTls ? plain / 3 : plain)));
  }

  /**
   * Returns the number of connections that the limit on open files allows. A quarter of the files
   * is reserved for closed connections that the kernel has not released yet.
   */
  static long maxConnections() {
    return maxOpenFiles() * 3 / 4 - OTHER_FILES;
  }

  static long maxOpenFiles() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
        ? unix.getMaxFileDescriptorCount()
        : Integer.MAX_VALUE;
  }

  static void require(Environment settings) {
    LIMITS.forEach(limit -> requirePositive(settings, limit));
    requireHeapFor(settings.getRequiredProperty("max.body.bytes", Long.class));
    requireFilesFor(settings.getRequiredProperty("max.connections", Long.class));
    origins(settings);
    requireOneNetty(settings);
  }

  static AllowedOrigins origins(Environment settings) {
    return AllowedOrigins.of(settings.getProperty("cors.allowed-origins", String.class).orElse(""));
  }

  private static void requirePositive(Environment settings, String property) {
    String value = settings.getRequiredProperty(property, String.class);
    if (!value.matches("[1-9][0-9]{0,8}")) {
      String variable = property.replace('.', '_').toUpperCase(Locale.ROOT);
      throw new ConfigurationException(
          variable + " must be a whole number from 1 to 999999999, but is \"" + value + '"');
    }
  }

  /** Limits a body to 1/32 of the heap, because parsing may allocate 14 times the body's size. */
  private static void requireHeapFor(long bodyBytes) {
    long bound = Runtime.getRuntime().maxMemory() / 32;
    if (bodyBytes > bound) {
      String demand = "at most " + bound + ", which is 1/32 of the heap (-Xmx)";
      throw new ConfigurationException(
          "MAX_BODY_BYTES must be " + demand + ", but is " + bodyBytes);
    }
  }

  /**
   * Throws an exception if the class path contains two versions of Netty, for example because a
   * database driver contains a copy of Netty. With two versions, requests would receive no
   * response, and nothing would be logged. Jars with the same file name contain the same version,
   * so they are counted once.
   */
  static void requireOneNetty(ResourceLoader classPath) {
    Map<String, URL> files = new TreeMap<>();
    classPath
        .getResources("io/netty/util/Version.class")
        .forEach(file -> files.put(file.getPath().replaceFirst(".*/(?=[^/]+\\.jar!)", ""), file));
    if (files.size() > 1) {
      throw new ConfigurationException(
          "the class path must contain only one version of Netty, but contains "
              + files.values()
              + "; remove all but one");
    }
  }

  private static void requireFilesFor(long connections) {
    if (connections > maxConnections()) {
      String demand = "MAX_CONNECTIONS must be at most " + maxConnections() + ", but is ";
      String files = "; the limit on open files is " + maxOpenFiles() + " (ulimit -n)";
      throw new ConfigurationException(demand + connections + files);
    }
  }
}
