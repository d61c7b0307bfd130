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
 * Prepares the database when the service starts or its {@code migrate} command is run. The service
 * does not depend on this module at compile time, so it discovers this class through interfaces
 * from Micronaut and the JDK. This class is stateless and therefore thread-safe.
 */
@ContextConfigurer
public final class PersistenceStart implements ApplicationContextConfigurer, ToolProvider {

  private static final Logger LOG = LoggerFactory.getLogger(PersistenceStart.class);

  /** Declares the environment variables for the database, and makes Micronaut create a pool. */
  @Override
  public void configure(ApplicationContextBuilder builder) {
    builder.environmentVariableIncludes(
        ("DATABASE_URL DATABASE_USERNAME DATABASE_USERNAME_FILE DATABASE_PASSWORD"
                + " DATABASE_PASSWORD_FILE DATABASE_MIGRATE DATABASE_CONNECTIONS"
                + " DATABASE_TIMEOUT_SECONDS DATABASE_START_TIMEOUT_SECONDS")
            .split(" "));
    Map<String, Object> defaults =
        Map.of(
            // A placeholder that makes the framework create the pool. Connections use DATABASE_URL.
            "datasources.default.url",
            "jdbc:postgresql:",
            // Disabled, because every health check by the framework would take a connection from
            // the pool.
            "endpoints.health.jdbc.enabled",
            false);
    builder.propertySources(
        // These defaults have the lowest precedence, so that every other source overrides them.
        PropertySource.of("plant-adapter-persistence", defaults, Integer.MIN_VALUE));
  }

  /**
   * Migrates the tables if this instance is configured to do so, and checks the database. Waits
   * while the database is unavailable.
   *
   * @throws ConfigurationException if a setting or the database cannot be used
   */
  @Override
  public void configure(ApplicationContext context) {
    Environment environment = context.getEnvironment();
    DatabaseSettings settings = new DatabaseSettings(environment);
    settings.warning().ifPresent(warning -> LOG.warn("Check the configuration: {}", warning));
    boolean hasCitus = new DatabaseStart(settings, settings.migrates).prepare();
    environment.addPropertySource(
        // Overrides all other sources, because this value is detected, not configured.
        PropertySource.of("database", Map.of(Shards.HAS_CITUS, hasCitus), Integer.MAX_VALUE));
  }

  /** Runs last, so that other configuration errors are reported before this class blocks. */
  @Override
  public int getOrder() {
    return LOWEST_PRECEDENCE;
  }

  @Override
  public String name() {
    return "migrate";
  }

  /**
   * Brings the tables up to date, prints a confirmation, and returns 0. Reads only the database
   * settings.
   *
   * @throws ConfigurationException if a setting or the database cannot be used
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
