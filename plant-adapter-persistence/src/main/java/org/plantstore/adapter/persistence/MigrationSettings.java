package org.plantstore.adapter.persistence;

import io.micronaut.context.env.Environment;
import io.micronaut.flyway.FlywayConfigurationCustomizer;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.time.Duration;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.postgresql.ds.PGSimpleDataSource;

/** Gives migrations connections of their own: they may take longer than any create. */
@Singleton
@Named(MigrationSettings.NAME)
final class MigrationSettings implements FlywayConfigurationCustomizer {

  /** The name of the data source that is migrated. */
  static final String NAME = "default";

  /** Longer than any statement of a migration may take. */
  private static final Duration TIMEOUT = Duration.ofMinutes(10);

  private final DatabaseAccess access;
  private final DatabaseTimeouts timeouts;

  MigrationSettings(Environment environment, DatabaseTimeouts timeouts) {
    this.access = DatabaseAccess.of(environment);
    this.timeouts = timeouts;
  }

  @Override
  public void customizeFluentConfiguration(FluentConfiguration migration) {
    PGSimpleDataSource database = new PGSimpleDataSource();
    database.setURL(access.url());
    database.setUser(access.username());
    database.setPassword(access.password());
    database.setApplicationName("plant-store");
    database.setConnectTimeout(Math.toIntExact(timeouts.signOfLife().toSeconds()));
    // A start must not wait for ever for a server that has vanished.
    database.setSocketTimeout(Math.toIntExact(TIMEOUT.toSeconds()));
    database.setTcpKeepAlive(true);
    database.setLogServerErrorDetail(false);
    migration.dataSource(database);
  }

  @Override
  public String getName() {
    return NAME;
  }
}
