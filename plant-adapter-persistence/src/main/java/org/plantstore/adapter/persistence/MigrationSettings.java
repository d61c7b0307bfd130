package org.plantstore.adapter.persistence;

import io.micronaut.context.annotation.Property;
import io.micronaut.context.env.Environment;
import io.micronaut.flyway.FlywayConfigurationCustomizer;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.callback.Callback;
import org.flywaydb.core.api.callback.Context;
import org.flywaydb.core.api.callback.Event;
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
  private final Duration patience;

  MigrationSettings(
      Environment environment,
      DatabaseTimeouts timeouts,
      @Property(name = PersistenceSettings.START_TIMEOUT_SECONDS) int patienceSeconds) {
    this.access = DatabaseAccess.of(environment);
    this.timeouts = timeouts;
    this.patience = Duration.ofSeconds(patienceSeconds);
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
    migration.callbacks(new LockTimeout(patience));
  }

  @Override
  public String getName() {
    return NAME;
  }

  /** Nor must a start wait for ever for somebody who has locked the tables. */
  private record LockTimeout(Duration patience) implements Callback {

    @Override
    public boolean supports(Event event, Context context) {
      return event == Event.AFTER_CONNECT;
    }

    @Override
    public boolean canHandleInTransaction(Event event, Context context) {
      return true;
    }

    @Override
    public void handle(Event event, Context context) {
      try (Statement statement = context.getConnection().createStatement()) {
        // Zero would be for ever.
        statement.execute("SET lock_timeout = " + Math.max(1, patience.toMillis()));
      } catch (SQLException e) {
        throw new FlywayException(e);
      }
    }

    @Override
    public String getCallbackName() {
      return "lock time-out";
    }
  }
}
