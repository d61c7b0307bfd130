package org.plantstore.adapter.persistence;

import io.micronaut.context.annotation.Property;
import io.micronaut.flyway.FlywayConfigurationCustomizer;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.callback.Callback;
import org.flywaydb.core.api.callback.Context;
import org.flywaydb.core.api.callback.Event;
import org.flywaydb.core.api.configuration.FluentConfiguration;

/** Gives migrations connections of their own: they may take longer than any create. */
@Singleton
@Named(MigrationSettings.NAME)
final class MigrationSettings implements FlywayConfigurationCustomizer {

  /** The name of the data source that is migrated. */
  static final String NAME = "default";

  private final Connector connector;
  private final Duration patience;

  MigrationSettings(
      Connector connector,
      DatabaseTimeouts timeouts,
      @Property(name = PersistenceSettings.START_TIMEOUT_SECONDS) int patienceSeconds) {
    this.connector = connector;
    // The database was there a moment ago.
    this.patience = Duration.ofSeconds(Math.max(timeouts.attempt().toSeconds(), patienceSeconds));
  }

  @Override
  public void customizeFluentConfiguration(FluentConfiguration migration) {
    migration.dataSource(new ConnectorDataSource(connector, patience));
    migration.callbacks(new LongTimeouts(patience));
  }

  @Override
  public String getName() {
    return NAME;
  }

  /**
   * Bounds what a start waits for.
   *
   * @param patience how long, for somebody who has locked the tables
   */
  private record LongTimeouts(Duration patience) implements Callback {

    /** Longer than any statement of a migration may take. */
    private static final Duration STATEMENT = Duration.ofMinutes(10);

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
      Connection connection = context.getConnection();
      try (Statement statement = connection.createStatement()) {
        statement.execute("SET statement_timeout = " + STATEMENT.toMillis());
        statement.execute("SET lock_timeout = " + patience.toMillis());
        // Nor for ever for a server that has vanished.
        connection.setNetworkTimeout(Runnable::run, Math.toIntExact(STATEMENT.toMillis()));
      } catch (SQLException e) {
        throw new FlywayException(e);
      }
    }

    @Override
    public String getCallbackName() {
      return "long time-outs";
    }
  }
}
