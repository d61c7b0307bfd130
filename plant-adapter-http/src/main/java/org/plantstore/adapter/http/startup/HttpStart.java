package org.plantstore.adapter.http.startup;

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
import java.util.Optional;
import org.plantstore.adapter.http.tls.TlsFiles;
import org.plantstore.adapter.http.token.TokenSettings;

/**
 * Adds the adapter's defaults ({@code settings.properties}), and stops startup if a setting is
 * unusable. This class is public, because Micronaut ignores configurers that are not public.
 */
@ContextConfigurer
public final class HttpStart implements ApplicationContextConfigurer {

  private static final String[] VARIABLES =
      ("JWT_SECRET JWT_SECRET_FILE JWT_JWKS_URL JWT_ISSUER JWT_AUDIENCE JWT_REQUIRED_CLAIMS"
              + " CORS_ALLOWED_ORIGINS TLS_CERTIFICATE TLS_KEY MAX_BODY_BYTES"
              + " MAX_CONCURRENT_CREATES MAX_CONNECTIONS REQUEST_TIMEOUT_SECONDS"
              + " CREATE_TIMEOUT_SECONDS IDLE_TIMEOUT_SECONDS")
          .split(" ");

  @Override
  public void configure(ApplicationContextBuilder builder) {
    builder.environmentVariableIncludes(VARIABLES);
    try (InputStream settings =
        requireNonNull(HttpStart.class.getResourceAsStream("settings.properties"))) {
      builder.propertySources(
          PropertySource.of(
              "plant-adapter-http",
              new PropertiesPropertySourceLoader().read("settings", settings),
              // Uses the lowest precedence, so that every default can be overridden.
              Integer.MIN_VALUE));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Validates all settings before any port is opened, and registers the typed settings as beans.
   *
   * @throws io.micronaut.context.exceptions.ConfigurationException if a setting is unusable
   */
  @Override
  public void configure(ApplicationContext context) {
    Environment environment = context.getEnvironment();
    HttpRequirements.addDefaultMaxConnections(environment);
    HttpRequirements.require(environment);
    Optional<TlsFiles> certificate = TlsFiles.of(environment);
    certificate.ifPresent(TlsFiles::finding); // throws an exception if the files are unusable
    TokenSettings tokens = TokenSettings.of(environment);
    context.registerSingleton(tokens);
    environment.addPropertySource(PropertySource.of("keys", Map.of("jwt.keys", tokens.sources())));
    context.registerSingleton(HttpRequirements.origins(environment));
    certificate.ifPresent(files -> {
      context.registerSingleton(files);
      environment.addPropertySource(
          PropertySource.of("tls", Map.of("micronaut.server.ssl.enabled", true)));
    });
  }
}
