package org.plantstore.adapter.persistence;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextBuilder;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.annotation.ContextConfigurer;
import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.exceptions.ConfigurationException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.adapter.persistence.database.ConnectionPool;
import org.plantstore.adapter.persistence.database.DatabaseAccess;
import org.plantstore.adapter.persistence.requirement.Requirements;

/**
 * Contributes this adapter's default settings, so that a service with another adapter has none of
 * them, and stops a start whose database does not meet the requirements. The service's command
 * {@code check} finds these by the JDK's type, because it does not depend on this module.
 */
@ContextConfigurer
public final class PersistenceStart
    implements ApplicationContextConfigurer,
        Function<Environment, List<Map.Entry<String, Supplier<String>>>> {

  private static final String START_SECONDS = "database.start.timeout.seconds";
  private static final String MIGRATE = "database.migrate";

  @Override
  public void configure(ApplicationContextBuilder builder) {
    builder.environmentVariableIncludes(
        ("DATABASE_URL DATABASE_USERNAME DATABASE_PASSWORD DATABASE_PASSWORD_FILE"
                + " DATABASE_MIGRATE DATABASE_CONNECTIONS DATABASE_TIMEOUT_SECONDS DATABASE_START_TIMEOUT_SECONDS")
            .split(" "));
    builder.propertySources(
        PropertySource.of(
            "plant-adapter-persistence",
            Map.ofEntries(
                Map.entry(ConnectionPool.DEADLINE, 5),
                Map.entry(START_SECONDS, 60),
                Map.entry(MIGRATE, "on"),
                // The most that may be open. One server takes five: four for plants, one to probe.
                Map.entry(ConnectionPool.CONNECTIONS, 36),
                // The framework chooses by it; the address is in DatabaseAccess.
                Map.entry("datasources.default.url", "jdbc:postgresql:"),
                // The driver's own check costs no statement; Micronaut would add one.
                Map.entry("datasources.default.automatic-validation-query", false),
                // For writers only; probes and migrations have connections of their own.
                Map.entry("datasources.default.maximum-pool-size", GroupCommit.WRITERS),
                // The requirements have already found the database.
                Map.entry("datasources.default.initialization-fail-timeout", -1),
                // Would borrow from the pool, which is exhausted under load.
                Map.entry("endpoints.health.jdbc.enabled", false)),
            // Below every other source, so that each of these can be overridden.
            Integer.MIN_VALUE));
  }

  @Override
  public void configure(ApplicationContext context) {
    Environment settings = context.getEnvironment();
    Requirements requirements = requirements(settings);
    requirements.prepare(startTimeout(settings));
    boolean hasCitus = PlantQueues.requireDistribution(requirements.access());
    settings.addPropertySource(
        // Before all others: it is a finding, no setting.
        PropertySource.of("database", Map.of(PlantQueues.HAS_CITUS, hasCitus), Integer.MAX_VALUE));
  }

  /**
   * Returns the requirements on the database as it is now, each named {@code database}. A
   * requirement returns its finding, or throws ConfigurationException with the remedy. None of them
   * retries or changes anything.
   */
  @Override
  public List<Map.Entry<String, Supplier<String>>> apply(Environment settings) {
    List<Supplier<String>> all = new ArrayList<>();
    try {
      Requirements requirements = requirements(settings);
      all.addAll(requirements.all());
      PlantQueues.requireDistribution(requirements.access());
    } catch (ConfigurationException e) {
      all.add(() -> {
        throw e;
      });
    }
    return all.stream().map(each -> Map.entry("database", each)).toList();
  }

  /** Throws ConfigurationException if a setting cannot work. */
  private static Requirements requirements(Environment settings) {
    requireNumber(settings, ConnectionPool.DEADLINE, 1, 60);
    requireNumber(settings, ConnectionPool.CONNECTIONS, GroupCommit.WRITERS + 1, 10_000);
    startTimeout(settings); // is usable
    String migrate = settings.getRequiredProperty(MIGRATE, String.class);
    if (!migrate.equals("on") && !migrate.equals("off")) {
      throw new ConfigurationException(
          "DATABASE_MIGRATE must be on or off, but is \"" + migrate + '"');
    }
    return new Requirements(DatabaseAccess.of(settings), migrate.equals("on"));
  }

  /** Returns how long a start waits for the database. */
  static Duration startTimeout(Environment settings) {
    return Duration.ofSeconds(requireNumber(settings, START_SECONDS, 0, 3_600));
  }

  /** Runs last, so that other configuration errors are reported before this blocks. */
  @Override
  public int getOrder() {
    return LOWEST_PRECEDENCE;
  }

  private static int requireNumber(Environment settings, String property, int least, int most) {
    String value = settings.getRequiredProperty(property, String.class);
    int number = value.matches("[0-9]{1,5}") ? Integer.parseInt(value) : -1;
    if (number < least || number > most) {
      String variable = property.toUpperCase(Locale.ROOT).replace('.', '_');
      String demand = " must be a whole number from " + least + " to " + most;
      throw new ConfigurationException(variable + demand + ", but is \"" + value + '"');
    }
    return number;
  }
}
