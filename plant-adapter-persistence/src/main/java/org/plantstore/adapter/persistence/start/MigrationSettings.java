package org.plantstore.adapter.persistence.start;

import io.micronaut.flyway.FlywayConfigurationCustomizer;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.callback.Callback;
import org.flywaydb.core.api.callback.Context;
import org.flywaydb.core.api.callback.Event;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.plantstore.adapter.persistence.database.Connector;
import org.plantstore.adapter.persistence.database.ConnectorDataSource;
import org.plantstore.adapter.persistence.database.DatabaseTimeouts;

/** Gives migrations connections of their own: they may take longer than any create. */
@Singleton
@Named(MigrationSettings.NAME)
final class MigrationSettings implements FlywayConfigurationCustomizer {

  /** The name of the data source that is migrated. */
  static final String NAME = "default";

  private final Connector connector;
  private final MigrationWatch watch;
  private final Duration patience;

  MigrationSettings(Connector connector, MigrationWatch watch, DatabaseTimeouts timeouts) {
    this.connector = connector;
    this.watch = watch;
    this.patience = timeouts.migration();
  }

  @Override
  public void customizeFluentConfiguration(FluentConfiguration migration) {
    migration.dataSource(new ConnectorDataSource(connector, patience, new CountDownLatch(0)));
    // Once a second: another instance may be at it.
    migration.lockRetryCount(Math.toIntExact(LongTimeouts.STATEMENT.toSeconds()));
    migration.callbacks(new LongTimeouts(patience, watch));
  }

  @Override
  public String getName() {
    return NAME;
  }

  /**
   * Bounds what a start waits for.
   *
   * @param patience how long, for somebody who has locked the tables
   * @param watch what ends the wait for a server that has fallen silent
   */
  private record LongTimeouts(Duration patience, MigrationWatch watch) implements Callback {

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
        // Nor for ever for an answer that was lost.
        connection.setNetworkTimeout(Runnable::run, Math.toIntExact(STATEMENT.toMillis()));
        watch.add(connection);
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
