package org.plantstore.adapter.persistence;

import static java.util.Objects.requireNonNull;

import io.micronaut.data.connection.exceptions.ConnectionException;
import io.micronaut.data.connection.jdbc.exceptions.CannotGetJdbcConnectionException;
import io.micronaut.data.exceptions.DataAccessException;
import io.micronaut.data.jdbc.runtime.JdbcOperations;
import jakarta.inject.Singleton;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * Keeps plants in a table of PostgreSQL. One statement decides who gets an id, and commits by
 * itself; the stored plant is read only if the id was taken.
 */
@Singleton
final class PostgresPlantStore implements PlantStore {

  private static final String INSERT =
      "INSERT INTO plant (id, name, tag) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING";
  private static final String SELECT = "SELECT name, tag FROM plant WHERE id = ?";
  private static final Duration REPEAT_FOR = Duration.ofSeconds(5);
  private static final Duration REPEAT_PAUSE = Duration.ofMillis(5);

  private final JdbcOperations database;

  PostgresPlantStore(JdbcOperations database) {
    this.database = database;
  }

  @Override
  public NewPlant putIfAbsent(NewPlant plant) {
    requireNonNull(plant, "plant");
    long deadline = System.nanoTime() + REPEAT_FOR.toNanos();
    while (true) {
      RuntimeException failure;
      try {
        NewPlant stored = database.execute(connection -> insertOrRead(connection, plant));
        if (stored != null) {
          return stored;
        }
        // An operator has deleted it in between, or hides it from this account.
        failure = new PlantStoreUnavailableException("the plant that has the id cannot be read");
      } catch (CannotGetJdbcConnectionException e) {
        throw failureOf(e).toDomain();
      } catch (ConnectionException | DataAccessException e) {
        // The statement may have committed all the same; sending it again then finds its own row.
        PostgresFailure postgresFailure = failureOf(e);
        failure = postgresFailure.toDomain();
        if (!postgresFailure.isRepeatable()) {
          throw failure;
        }
      }
      if (System.nanoTime() - deadline >= 0) {
        throw failure;
      }
      LockSupport.parkNanos(REPEAT_PAUSE.toNanos());
    }
  }

  private static @Nullable NewPlant insertOrRead(Connection connection, NewPlant plant)
      throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
      insert.setLong(1, plant.id());
      insert.setString(2, plant.name());
      insert.setString(3, plant.tag());
      if (insert.executeUpdate() == 1) {
        return plant;
      }
    }
    try (PreparedStatement select = connection.prepareStatement(SELECT)) {
      select.setLong(1, plant.id());
      try (ResultSet row = select.executeQuery()) {
        return row.next() ? new NewPlant(plant.id(), row.getString(1), row.getString(2)) : null;
      }
    }
  }

  /** Only what the driver reported counts; the framework's wrapping ends here (R7). */
  private static PostgresFailure failureOf(RuntimeException wrapper) {
    for (Throwable link = wrapper; link != null; link = link.getCause()) {
      if (link instanceof SQLException sql) {
        return new PostgresFailure(sql);
      }
    }
    throw new IllegalStateException("the store is used in a wrong way: " + wrapper.getMessage());
  }
}
