package org.plantstore.adapter.persistence;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextBuilder;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.annotation.ContextConfigurer;
import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.PrintWriter;
import java.util.Map;
import java.util.spi.ToolProvider;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prepares the database when a service starts, and in its command {@code migrate}. A service finds
 * both by types of the framework and the JDK, because it does not depend on this module.
 * Thread-safe, because it has no state.
 */
@ContextConfigurer
public final class PersistenceStart implements ApplicationContextConfigurer, ToolProvider {

  private static final Logger LOG = LoggerFactory.getLogger(PersistenceStart.class);

  @Override
  public void configure(ApplicationContextBuilder builder) {
    builder.environmentVariableIncludes(
        ("DATABASE_URL DATABASE_USERNAME DATABASE_USERNAME_FILE DATABASE_PASSWORD"
                + " DATABASE_PASSWORD_FILE DATABASE_MIGRATE DATABASE_CONNECTIONS"
                + " DATABASE_TIMEOUT_SECONDS DATABASE_START_TIMEOUT_SECONDS")
            .split(" "));
    Map<String, Object> defaults =
        Map.of(
            // Makes the framework create the pool, whose connections use DATABASE_URL.
            "datasources.default.url",
            "jdbc:postgresql:",
            // Each health check would take a connection from the pool.
            "endpoints.health.jdbc.enabled",
            false);
    builder.propertySources(
        // Below every other source, so that each of these can be overridden.
        PropertySource.of("plant-adapter-persistence", defaults, Integer.MIN_VALUE));
  }

  @Override
  public void configure(ApplicationContext context) {
    Environment environment = context.getEnvironment();
    DatabaseSettings settings = new DatabaseSettings(environment);
    settings.warning().ifPresent(warning -> LOG.warn("Check the configuration: {}", warning));
    boolean hasCitus = new DatabaseStart(settings, settings.migrates).prepare();
    environment.addPropertySource(
        // Overrides all other sources, because it was found and is no setting.
        PropertySource.of("database", Map.of(Shards.HAS_CITUS, hasCitus), Integer.MAX_VALUE));
  }

  /** Runs last, so that other configuration errors are reported before this blocks. */
  @Override
  public int getOrder() {
    return LOWEST_PRECEDENCE;
  }

  /** Returns the name of the command that brings the tables up to date. */
  @Override
  public String name() {
    return "migrate";
  }

  /**
   * Brings the tables up to date, and returns 0. Reads only the settings of the database.
   *
   * @throws ConfigurationException if that fails
   */
  @Override
  public int run(PrintWriter out, PrintWriter err, String... arguments) {
    try (ApplicationContext context = ApplicationContext.builder().build()) {
      migrate(context.getEnvironment().start());
      out.println("The tables are up to date.");
      return 0;
    }
  }

  static void migrate(Environment environment) {
    new DatabaseStart(new DatabaseSettings(environment), true).prepare();
  }
}
