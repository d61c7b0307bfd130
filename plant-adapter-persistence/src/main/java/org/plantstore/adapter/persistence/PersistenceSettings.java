package org.plantstore.adapter.persistence;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextBuilder;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.annotation.ContextConfigurer;
import io.micronaut.context.env.PropertySource;
import java.time.Duration;
import java.util.Map;

/**
 * Brings this adapter's settings along, so that a service which exchanges the adapter exchanges
 * them too, and refuses to start with a database that cannot keep the store's rules.
 */
@ContextConfigurer
public final class PersistenceSettings implements ApplicationContextConfigurer {

  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  /**
   * The server gives up a statement before its client does, or every client that gives up would
   * leave a connection behind that waits on. It gives up a lock earlier still, so that there is
   * time to separate the plant that waits for it from others. Where synchronous commit is off, a
   * crash of the server would lose acknowledged plants (R4); stricter values, such as remote_apply,
   * stay.
   */
  private static final String SESSION =
      "SELECT set_config('statement_timeout', '4s', false),"
          + " set_config('lock_timeout', '1s', false), set_config('synchronous_commit',"
          + " CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'"
          + " ELSE current_setting('synchronous_commit') END, false)";

  @Override
  public void configure(ApplicationContextBuilder builder) {
    builder.propertySources(
        PropertySource.of(
            "plant-adapter-persistence",
            Map.ofEntries(
                Map.entry("datasources.default.url", "${database.url:}"),
                Map.entry("datasources.default.username", "${database.username:}"),
                Map.entry("datasources.default.driver-class-name", "org.postgresql.Driver"),
                Map.entry("datasources.default.dialect", "POSTGRES"),
                // The driver's own check costs no statement; Micronaut would add one.
                Map.entry("datasources.default.automatic-validation-query", false),
                // For the writers of plants, a probe of the health and a migration.
                Map.entry("datasources.default.maximum-pool-size", 6),
                Map.entry("datasources.default.connection-timeout", TIMEOUT.toMillis()),
                Map.entry("datasources.default.connection-init-sql", SESSION),
                Map.entry(
                    "datasources.default.data-source-properties.ApplicationName", "plant-store"),
                // A server that vanished without a word must not hold callers for ever. The driver
                // overlooks what is no String.
                Map.entry(
                    "datasources.default.data-source-properties.connectTimeout",
                    String.valueOf(TIMEOUT.toSeconds())),
                Map.entry(
                    "datasources.default.data-source-properties.socketTimeout",
                    String.valueOf(TIMEOUT.toSeconds())),
                Map.entry("datasources.default.data-source-properties.tcpKeepAlive", "true"),
                // Details quote rows, and a plant's text has no place in a log.
                Map.entry(
                    "datasources.default.data-source-properties.logServerErrorDetail", "false"),
                Map.entry("flyway.datasources.default.enabled", true),
                // The schema may have other tables.
                Map.entry("flyway.datasources.default.baseline-on-migrate", true),
                Map.entry("flyway.datasources.default.baseline-version", "0"),
                Map.entry(
                    "flyway.datasources.default.locations",
                    "classpath:org/plantstore/adapter/persistence")),
            // Below every other source, so that each of these can be overridden.
            Integer.MIN_VALUE));
  }

  @Override
  public void configure(ApplicationContext context) {
    new ServerCheck(DatabaseAccess.of(context.getEnvironment())).run();
  }
}
