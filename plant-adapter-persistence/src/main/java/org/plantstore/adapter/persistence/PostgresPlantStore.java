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
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;

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

  private final JdbcOperations database;

  PostgresPlantStore(JdbcOperations database) {
    this.database = database;
  }

  @Override
  public NewPlant putIfAbsent(NewPlant plant) {
    requireNonNull(plant, "plant");
    long start = System.nanoTime();
    while (true) {
      try {
        NewPlant stored = database.execute(connection -> insertOrRead(connection, plant));
        if (stored != null) {
          return stored;
        }
        // The row that was in the way is gone: an operator deleted it. The id is free again.
      } catch (CannotGetJdbcConnectionException e) {
        throw failureOf(e).toDomain();
      } catch (ConnectionException | DataAccessException e) {
        // The statement may have committed all the same; sending it again then finds its own row.
        PostgresFailure failure = failureOf(e);
        if (!failure.isRepeatable() || System.nanoTime() - start > REPEAT_FOR.toNanos()) {
          throw failure.toDomain();
        }
      }
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
