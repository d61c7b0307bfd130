package org.plantstore.adapter.http;

import static java.util.Objects.requireNonNull;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextBuilder;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.annotation.ContextConfigurer;
import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertiesPropertySourceLoader;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.plantstore.adapter.http.tls.TlsFiles;
import org.plantstore.adapter.http.token.TokenSettings;

/**
 * Brings this adapter's settings along ({@code settings.properties}), so that a service need not
 * know which of the framework's defaults would break the contract. Refuses to start with settings
 * that cannot work.
 */
@ContextConfigurer
public final class HttpSettings implements ApplicationContextConfigurer {

  static final String MAX_CONCURRENT_CREATES = "max.concurrent.creates";

  private static final String MAX_BODY_BYTES = "max.body.bytes";

  @Override
  public void configure(ApplicationContextBuilder builder) {
    try (InputStream settings =
        requireNonNull(HttpSettings.class.getResourceAsStream("settings.properties"))) {
      builder.propertySources(
          PropertySource.of(
              "plant-adapter-http",
              new PropertiesPropertySourceLoader().read("settings", settings),
              // Below every other source, so that each of these can be overridden.
              Integer.MIN_VALUE));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void configure(ApplicationContext context) {
    Environment environment = context.getEnvironment();
    context.registerSingleton(TokenSettings.of(environment));
    TlsFiles.of(environment)
        .ifPresent(files -> {
          files.read(); // refused here, before any port is opened
          context.registerSingleton(files);
          environment.addPropertySource(
              PropertySource.of(
                  "tls",
                  // A connection takes more than twice as much memory.
                  Map.of("micronaut.server.ssl.enabled", true, "default.max-connections", 8_192)));
        });
    requireLimits(environment);
  }

  /** Requires limits that can work; throws ConfigurationException otherwise. */
  static void requireLimits(Environment settings) {
    for (String property :
        List.of(
            MAX_BODY_BYTES, MAX_CONCURRENT_CREATES, "max.connections", "request.timeout.seconds")) {
      String value = settings.getRequiredProperty(property, String.class);
      if (!value.matches("[1-9][0-9]{0,8}")) {
        String variable = property.replace('.', '_').toUpperCase(Locale.ROOT);
        throw new ConfigurationException(
            variable + " must be a whole number from 1 to 999999999, but is " + value);
      }
    }
    long maxBodyBytes = settings.getRequiredProperty(MAX_BODY_BYTES, Long.class);
    // A body takes several times its bytes until it is answered.
    long bound = Runtime.getRuntime().maxMemory() / 16;
    if (maxBodyBytes > bound) {
      throw new ConfigurationException(
          "MAX_BODY_BYTES must be at most "
              + bound
              + ", a sixteenth of the heap (-Xmx), but is "
              + maxBodyBytes);
    }
  }
}
