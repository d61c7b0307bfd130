package org.plantstore.adapter.persistence;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextBuilder;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.annotation.ContextConfigurer;
import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.exceptions.ConfigurationException;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Contributes this adapter's default settings, so that a service with another adapter has none of
 * them, and prepares the database at a start. The service's command {@code check} finds the
 * requirements by the JDK's type, because it does not depend on this module.
 */
@ContextConfigurer
public final class PersistenceStart
    implements ApplicationContextConfigurer,
        Function<Environment, List<Map.Entry<String, Supplier<String>>>> {

  @Override
  public void configure(ApplicationContextBuilder builder) {
    builder.environmentVariableIncludes(
        ("DATABASE_URL DATABASE_USERNAME DATABASE_USERNAME_FILE DATABASE_PASSWORD"
                + " DATABASE_PASSWORD_FILE DATABASE_MIGRATE DATABASE_CONNECTIONS"
                + " DATABASE_TIMEOUT_SECONDS DATABASE_START_TIMEOUT_SECONDS")
            .split(" "));
    builder.propertySources(
        PropertySource.of(
            "plant-adapter-persistence",
            Map.of(
                "database.timeout.seconds",
                5,
                "database.start.timeout.seconds",
                60,
                "database.migrate",
                "on",
                "database.connections",
                36,
                // The framework chooses by it; the address is in DatabaseSettings.
                "datasources.default.url",
                "jdbc:postgresql:",
                // The driver's own check costs no statement; Micronaut would add one.
                "datasources.default.automatic-validation-query",
                false,
                // The start has already found the database.
                "datasources.default.initialization-fail-timeout",
                -1,
                // Would borrow from the pool as often as it is asked.
                "endpoints.health.jdbc.enabled",
                false),
            // Below every other source, so that each of these can be overridden.
            Integer.MIN_VALUE));
  }

  @Override
  public void configure(ApplicationContext context) {
    Environment environment = context.getEnvironment();
    DatabaseSettings settings = new DatabaseSettings(environment);
    boolean hasCitus = new DatabaseStart(settings, settings.migrates).prepare();
    environment.addPropertySource(
        // Before all others: it is a finding, no setting.
        PropertySource.of("database", Map.of(Shards.HAS_CITUS, hasCitus), Integer.MAX_VALUE));
  }

  /**
   * Returns the faults of the database as it is now, or that it has none, each named {@code
   * database}. A fault throws ConfigurationException with the remedy. Nothing is changed.
   */
  @Override
  public List<Map.Entry<String, Supplier<String>>> apply(Environment environment) {
    List<Supplier<String>> findings;
    try {
      DatabaseSettings settings = new DatabaseSettings(environment);
      List<String> faults = new DatabaseStart(settings, settings.migrates).check();
      findings =
          faults.isEmpty()
              ? List.of(() -> settings.address + " can keep plants")
              : faults.stream().map(PersistenceStart::fault).toList();
    } catch (ConfigurationException e) {
      findings = List.of(fault(String.valueOf(e.getMessage())));
    }
    return findings.stream().map(each -> Map.entry("database", each)).toList();
  }

  private static Supplier<String> fault(String remedy) {
    return () -> {
      throw new ConfigurationException(remedy);
    };
  }

  /** Runs last, so that other configuration errors are reported before this blocks. */
  @Override
  public int getOrder() {
    return LOWEST_PRECEDENCE;
  }
}
