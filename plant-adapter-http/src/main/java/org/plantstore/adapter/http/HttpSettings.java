package org.plantstore.adapter.http;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextBuilder;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.annotation.ContextConfigurer;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.exceptions.ConfigurationException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.plantstore.adapter.http.token.TokenSettings;

/**
 * Brings this adapter's settings along, so that a service need not know which of the framework's
 * defaults would break the contract. Refuses to start without usable keys.
 */
@ContextConfigurer
public final class HttpSettings implements ApplicationContextConfigurer {

  static final String MAX_CONCURRENT_CREATES = "max.concurrent.creates";

  private static final String MAX_BODY_BYTES = "max.body.bytes";

  /**
   * On its way to the database and into its answer a body takes several times its bytes: with an
   * eighth of the heap that was too much, with this share it was not.
   */
  private static final int LARGEST_BODY_SHARE_OF_HEAP = 16;

  /** Longer than load balancers keep theirs, so that it is they who close. */
  private static final Duration IDLE_TIMEOUT = Duration.ofMinutes(2);

  @Override
  public void configure(ApplicationContextBuilder builder) {
    builder.propertySources(
        PropertySource.of(
            "plant-adapter-http",
            Map.ofEntries(
                Map.entry(MAX_BODY_BYTES, 1_048_576),
                Map.entry(MAX_CONCURRENT_CREATES, 1_024),
                Map.entry("max.connections", 16_384),
                Map.entry("request.timeout.seconds", 30),
                Map.entry("micronaut.server.idle-timeout", IDLE_TIMEOUT),
                // More loops would only take turns.
                Map.entry(
                    "micronaut.netty.event-loops.default.num-threads",
                    Runtime.getRuntime().availableProcessors()),
                Map.entry("micronaut.server.max-request-size", "${" + MAX_BODY_BYTES + "}"),
                Map.entry("micronaut.server.max-request-buffer-size", "${" + MAX_BODY_BYTES + "}"),
                // Unpacked, a body could grow past every limit.
                Map.entry("micronaut.server.netty.request-decompression-enabled", false),
                // It would compress a large document anew for every small request, and in codings
                // that no browser reads.
                Map.entry("micronaut.server.netty.compression-threshold", -1),
                // A refusal is no reason to make the caller connect again.
                Map.entry("micronaut.server.netty.keep-alive-on-server-error", true),
                // The framework would answer pages of other origins with a bare 403 on localhost. A
                // page elsewhere has no token, so the 401 that it gets instead protects as well.
                Map.entry("micronaut.server.cors.localhost-pass-through", true),
                // TokenFilter and TokenValidation stand in their place.
                Map.entry("micronaut.security.filter.enabled", false),
                Map.entry("micronaut.security.token.jwt.nimbus.validator", false),
                Map.entry("micronaut.security.token.jwt.nimbus.reactive-validator", false),
                Map.entry("micronaut.security.token.bearer.enabled", false),
                Map.entry("micronaut.security.basic-auth.enabled", false)),
            // Below every other source, so that each of these can be overridden.
            Integer.MIN_VALUE));
  }

  @Override
  public void configure(ApplicationContext context) {
    TokenSettings.of(context.getEnvironment());
    for (String property :
        List.of(
            MAX_BODY_BYTES, MAX_CONCURRENT_CREATES, "max.connections", "request.timeout.seconds")) {
      requirePositive(property, context.getRequiredProperty(property, String.class));
    }
    requireMemory(context.getRequiredProperty(MAX_BODY_BYTES, Long.class));
  }

  private static void requirePositive(String property, String value) {
    if (!value.matches("[1-9][0-9]{0,8}")) {
      String variable = property.replace('.', '_').toUpperCase(Locale.ROOT);
      throw new ConfigurationException(
          variable + " must be a whole number from 1 to 999999999, but is " + value);
    }
  }

  private static void requireMemory(long maxBodyBytes) {
    long bound = Runtime.getRuntime().maxMemory() / LARGEST_BODY_SHARE_OF_HEAP;
    if (maxBodyBytes > bound) {
      throw new ConfigurationException(
          "MAX_BODY_BYTES must be at most "
              + bound
              + ", a sixteenth of the heap (-Xmx), but is "
              + maxBodyBytes);
    }
  }
}
