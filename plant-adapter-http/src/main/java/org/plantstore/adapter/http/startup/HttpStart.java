package org.plantstore.adapter.http.startup;

import static java.util.Objects.requireNonNull;

import com.sun.management.UnixOperatingSystemMXBean;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextBuilder;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.annotation.ContextConfigurer;
import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertiesPropertySourceLoader;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.core.io.ResourceLoader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.URL;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.plantstore.adapter.http.cors.AllowedOrigins;
import org.plantstore.adapter.http.tls.TlsFiles;
import org.plantstore.adapter.http.token.TokenSettings;

/**
 * Adds the adapter's defaults ({@code settings.properties}), and aborts startup if a setting is
 * invalid. This class is public, because Micronaut ignores configurers that are not public.
 */
@ContextConfigurer
public final class HttpStart implements ApplicationContextConfigurer {

  private static final String[] VARIABLES =
      ("JWT_SECRET JWT_SECRET_FILE JWT_JWKS_URL JWT_ISSUER JWT_AUDIENCE JWT_REQUIRED_CLAIMS"
              + " CORS_ALLOWED_ORIGINS TLS_CERTIFICATE TLS_KEY MAX_BODY_BYTES"
              + " MAX_CONCURRENT_CREATES MAX_CONNECTIONS REQUEST_TIMEOUT_SECONDS"
              + " CREATE_TIMEOUT_SECONDS IDLE_TIMEOUT_SECONDS")
          .split(" ");

  private static final List<String> LIMITS =
      List.of(
          "max.body.bytes",
          "max.concurrent.creates",
          "max.connections",
          "request.timeout.seconds",
          "idle.timeout.seconds",
          "create.timeout.seconds");

  /**
   * The number of heap bytes to reserve for each connection without TLS. The reservation is twice
   * the heap usage of a connection that has received only part of a small request. A connection
   * with TLS occupies three times as much heap as a connection without TLS.
   */
  private static final int HEAP_BYTES_PER_CONNECTION = 12 * 1024;

  /** The number of open files to reserve for jars, database connections, and probes. */
  private static final long OTHER_FILES = 32;

  @Override
  public void configure(ApplicationContextBuilder builder) {
    builder.environmentVariableIncludes(VARIABLES);
    try (InputStream settings =
        requireNonNull(HttpStart.class.getResourceAsStream("settings.properties"))) {
      builder.propertySources(
          PropertySource.of(
              "plant-adapter-http",
              new PropertiesPropertySourceLoader().read("settings", settings),
              // The defaults have the lowest precedence, so that any other source overrides them.
              Integer.MIN_VALUE));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Validates all settings before any port is opened, and registers the typed settings as beans.
   *
   * @throws io.micronaut.context.exceptions.ConfigurationException if a setting is invalid, or if
   *     it names an unusable file
   */
  @Override
  public void configure(ApplicationContext context) {
    Environment environment = context.getEnvironment();
    addDefaultMaxConnections(environment);
    require(environment);
    Optional<TlsFiles> certificate = TlsFiles.of(environment);
    certificate.ifPresent(TlsFiles::finding); // throws an exception if the files are unusable
    TokenSettings tokens = TokenSettings.of(environment);
    context.registerSingleton(tokens);
    environment.addPropertySource(PropertySource.of("keys", Map.of("jwt.keys", tokens.sources())));
    context.registerSingleton(origins(environment));
    certificate.ifPresent(files -> {
      context.registerSingleton(files);
      environment.addPropertySource(
          PropertySource.of("tls", Map.of("micronaut.server.ssl.enabled", true)));
    });
  }

  /**
   * Sets the default of MAX_CONNECTIONS, which depends on the heap size, on the limit on open
   * files, and on whether TLS is enabled.
   */
  static void addDefaultMaxConnections(Environment settings) {
    long heapLimit = Runtime.getRuntime().maxMemory() / HEAP_BYTES_PER_CONNECTION;
    long plain = Math.min(heapLimit, maxConnections());
    boolean isTls = settings.containsProperty("tls.certificate");
    settings.addPropertySource(
        PropertySource.of(
            "connections", Map.of("default.max-connections", isTls ? plain / 3 : plain)));
  }

  /**
   * Returns the maximum number of connections that the limit on open files allows. A quarter of the
   * limit on open files is reserved for closed connections that the kernel has not released yet.
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
    // Parsing a body can allocate up to 14 times its size. This limit ensures that parsing a single
    // body takes less than half of the heap.
    long maxBodyBytes = Runtime.getRuntime().maxMemory() / 32;
    requireAtMost(maxBodyBytes, settings, "max.body.bytes", "increase the heap (-Xmx)");
    String files = "raise the limit on open files (ulimit -n), which is " + maxOpenFiles();
    requireAtMost(maxConnections(), settings, "max.connections", files);
    origins(settings);
    requireOneNetty(settings);
  }

  static AllowedOrigins origins(Environment settings) {
    return AllowedOrigins.of(settings.getProperty("cors.allowed-origins", String.class).orElse(""));
  }

  private static void requirePositive(Environment settings, String property) {
    String value = settings.getRequiredProperty(property, String.class);
    if (!value.matches("[1-9][0-9]{0,8}")) {
      throw new ConfigurationException(
          variable(property)
              + " must be a whole number from 1 to 999999999, but is \""
              + value
              + '"');
    }
  }

  private static void requireAtMost(
      long max, Environment settings, String property, String alternative) {
    long value = settings.getRequiredProperty(property, Long.class);
    if (value > max) {
      throw new ConfigurationException(
          (variable(property) + " must be at most " + max + ", but is " + value)
              + ("; lower it, or " + alternative));
    }
  }

  private static String variable(String property) {
    return property.replace('.', '_').toUpperCase(Locale.ROOT);
  }

  /**
   * Throws ConfigurationException if the class path contains more than one version of Netty, for
   * example because a database driver contains a copy of Netty. If the class path contained two
   * versions of Netty, requests would receive no response, and nothing would be logged. Jars with
   * the same file name are counted once, because they contain the same version.
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
}
