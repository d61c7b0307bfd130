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
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
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
public final class HttpSettings implements ApplicationContextConfigurer {

  private static final Logger LOG = LoggerFactory.getLogger(HttpSettings.class);

  @Override
  public void configure(ApplicationContextBuilder builder) {
    builder.environmentVariableIncludes(
        ("JWT_SECRET JWT_JWKS_URL JWT_ISSUER JWT_AUDIENCE TLS_CERTIFICATE TLS_KEY"
                + " MAX_BODY_BYTES MAX_CONCURRENT_CREATES MAX_CONNECTIONS REQUEST_TIMEOUT_SECONDS")
            .split(" "));
    try (InputStream settings =
        requireNonNull(HttpSettings.class.getResourceAsStream("settings.properties"))) {
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

  @Override
  public void configure(ApplicationContext context) {
    Environment environment = context.getEnvironment();
    // Before any port is opened.
    List<String> findings =
        HttpRequirements.ofStart(environment).values().stream().map(Supplier::get).toList();
    LOG.debug("Requirements of HTTP are met: {}", findings);
    context.registerSingleton(TokenSettings.of(environment));
    TlsFiles.of(environment)
        .ifPresent(files -> {
          context.registerSingleton(files);
          // With TLS a connection takes more than twice as much memory.
          Map<String, Object> tls =
              Map.of("micronaut.server.ssl.enabled", true, "default.max-connections", 8_192);
          environment.addPropertySource(PropertySource.of("tls", tls));
        });
  }
}
