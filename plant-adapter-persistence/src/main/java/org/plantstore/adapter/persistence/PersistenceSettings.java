package org.plantstore.adapter.persistence;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextBuilder;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.annotation.ContextConfigurer;
import io.micronaut.context.env.Environment;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.core.value.PropertyResolver;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.adapter.persistence.database.ConnectionPool;
import org.plantstore.adapter.persistence.database.DatabaseAccess;
import org.plantstore.adapter.persistence.database.DatabaseTimeouts;
import org.plantstore.adapter.persistence.start.Migration;
import org.plantstore.adapter.persistence.start.ServerCheck;
import org.plantstore.adapter.persistence.start.TableCheck;

/**
 * Brings this adapter's settings along, so that a service which exchanges the adapter exchanges
 * them too, and refuses to start with a database that cannot keep the store's rules.
 */
@ContextConfigurer
public final class PersistenceSettings implements ApplicationContextConfigurer {

  private static final String START_SECONDS = "database.start.timeout.seconds";
  private static final String MIGRATE = "database.migrate";

  @Override
  public void configure(ApplicationContextBuilder builder) {
    builder.propertySources(
        PropertySource.of(
            "plant-adapter-persistence",
            Map.ofEntries(
                Map.entry(DatabaseTimeouts.CREATE_SECONDS, 5),
                Map.entry(START_SECONDS, 60),
                Map.entry(MIGRATE, "on"),
                // One for each of 32 lanes, three that they share, and the monitor's.
                Map.entry(ConnectionPool.CONNECTIONS, 36),
                Map.entry("datasources.default.url", "${database.url:}"),
                Map.entry("datasources.default.driver-class-name", "org.postgresql.Driver"),
                Map.entry("datasources.default.dialect", "POSTGRES"),
                // The driver's own check costs no statement; Micronaut would add one.
                Map.entry("datasources.default.automatic-validation-query", false),
                // For the writers of plants; probes and migrations have their own connections.
                Map.entry("datasources.default.maximum-pool-size", GroupCommit.WRITERS),
                // ServerCheck has found the database before.
                Map.entry("datasources.default.initialization-fail-timeout", -1),
                // Would borrow from the pool, which is exhausted when there is most to do.
                Map.entry("endpoints.health.jdbc.enabled", false)),
            // Below every other source, so that each of these can be overridden.
            Integer.MIN_VALUE));
  }

  @Override
  public void configure(ApplicationContext context) {
    prepare(context.getEnvironment(), requireUsable(context.getEnvironment()));
  }

  /**
   * Returns whether a start migrates.
   *
   * @throws ConfigurationException if a setting cannot work
   */
  static boolean requireUsable(Environment environment) {
    requireNumber(environment, DatabaseTimeouts.CREATE_SECONDS, 1, 60);
    requireNumber(environment, ConnectionPool.CONNECTIONS, GroupCommit.WRITERS + 1, 10_000);
    patience(environment);
    String migrate = environment.getRequiredProperty(MIGRATE, String.class);
    if (!migrate.equals("on") && !migrate.equals("off")) {
      throw new ConfigurationException("DATABASE_MIGRATE must be on or off, but is " + migrate);
    }
    return migrate.equals("on");
  }

  /**
   * Waits for the server, checks it, and brings the tables up to date if that is wanted.
   *
   * @throws ConfigurationException if the server or the table cannot be used
   */
  static void prepare(Environment environment, boolean migrates) {
    DatabaseAccess access = DatabaseAccess.of(environment);
    int patience = patience(environment);
    new ServerCheck(access, migrates).run(Duration.ofSeconds(patience));
    if (migrates) {
      // Locked tables are waited for as well, but not too short.
      new Migration(access, Duration.ofSeconds(Math.max(patience, 2))).run();
    }
    new TableCheck(access).run();
  }

  /** Last: what is wrong elsewhere is to be told before this one waits for its database. */
  @Override
  public int getOrder() {
    return LOWEST_PRECEDENCE;
  }

  /** Returns for how many seconds a start waits for the database. */
  private static int patience(PropertyResolver settings) {
    return requireNumber(settings, START_SECONDS, 0, 3_600);
  }

  private static int requireNumber(
      PropertyResolver settings, String property, int least, int most) {
    String value = settings.getRequiredProperty(property, String.class);
    int number = value.matches("[0-9]{1,5}") ? Integer.parseInt(value) : -1;
    if (number < least || number > most) {
      throw new ConfigurationException(
          "%s must be a whole number from %d to %d, but is %s"
              .formatted(property.toUpperCase(Locale.ROOT).replace('.', '_'), least, most, value));
    }
    return number;
  }
}
