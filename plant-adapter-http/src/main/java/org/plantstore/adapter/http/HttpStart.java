package org.plantstore.adapter.http;

import static java.util.Objects.requireNonNull;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextBuilder;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.annotation.ContextConfigurer;
import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertiesPropertySourceLoader;
import io.micronaut.context.env.PropertySource;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import org.plantstore.adapter.http.observe.AllowedOrigins;
import org.plantstore.adapter.http.tls.TlsFiles;
import org.plantstore.adapter.http.token.TokenSettings;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Contributes this adapter's default settings ({@code settings.properties}), which also replace the
 * framework's defaults that would break the contract, and stops a start whose requirements are not
 * met.
 */
@ContextConfigurer
public final class HttpStart implements ApplicationContextConfigurer {

  private static final Logger LOG = LoggerFactory.getLogger(HttpStart.class);

  /** Three times what an idle connection takes; one with TLS takes three times as much. */
  private static final int HEAP_BYTES_PER_CONNECTION = 9 * 1024;

  @Override
  public void configure(ApplicationContextBuilder builder) {
    builder.environmentVariableIncludes(
        ("JWT_SECRET JWT_SECRET_FILE JWT_JWKS_URL JWT_ISSUER JWT_AUDIENCE JWT_REQUIRED_CLAIMS"
                + " CORS_ALLOWED_ORIGINS TLS_CERTIFICATE TLS_KEY MAX_BODY_BYTES"
                + " MAX_CONCURRENT_CREATES MAX_CONNECTIONS REQUEST_TIMEOUT_SECONDS"
                + " CREATE_TIMEOUT_SECONDS IDLE_TIMEOUT_SECONDS")
            .split(" "));
    try (InputStream settings =
        requireNonNull(HttpStart.class.getResourceAsStream("settings.properties"))) {
      builder.propertySources(
          PropertySource.of(
              "plant-adapter-http",
              new PropertiesPropertySourceLoader().read("settings", settings),
              // The lowest precedence, so that every default can be overridden.
              Integer.MIN_VALUE));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Adds the default of MAX_CONNECTIONS, which depends on heap, open files and TLS. */
  static void addDefaultOfConnections(Environment settings) {
    long ofHeap = Runtime.getRuntime().maxMemory() / HEAP_BYTES_PER_CONNECTION;
    long plain = Math.min(ofHeap, HttpRequirements.maxConnections());
    boolean isTls = settings.containsProperty("tls.certificate");
    settings.addPropertySource(
        PropertySource.of(
            "connections", Map.of("default.max-connections", isTls ? plain / 3 : plain)));
  }

  @Override
  public void configure(ApplicationContext context) {
    Environment environment = context.getEnvironment();
    addDefaultOfConnections(environment);
    // Before any port is opened.
    LOG.debug("{}", HttpRequirements.settings(environment));
    LOG.debug("Certificate: {}", HttpRequirements.certificate(environment));
    TokenSettings tokens = TokenSettings.of(environment);
    LOG.debug("Tokens: {}", tokens);
    context.registerSingleton(tokens);
    environment.addPropertySource(PropertySource.of("keys", Map.of("jwt.keys", tokens.sources())));
    AllowedOrigins origins = HttpRequirements.origins(environment);
    context.registerSingleton(origins);
    TlsFiles.of(environment)
        .ifPresent(files -> {
          context.registerSingleton(files);
          environment.addPropertySource(
              PropertySource.of("tls", Map.of("micronaut.server.ssl.enabled", true)));
        });
  }
}
