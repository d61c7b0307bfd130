package org.plantstore.adapter.persistence;

import io.micronaut.context.annotation.Replaces;
import io.micronaut.context.annotation.Requires;
import io.micronaut.data.jdbc.runtime.JdbcOperations;
import jakarta.inject.Singleton;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;

/**
 * What the store of the service is measured against: each call inserts its one row by itself. Takes
 * the place of the other where it is asked to. Any failure is an exception, which ends the
 * benchmark.
 */
@Singleton
@Replaces(PostgresPlantStore.class)
@Requires(property = OneInsertPlantStore.PROPERTY, value = "true")
final class OneInsertPlantStore implements PlantStore {

  static final String PROPERTY = "one.insert.per.request";

  private static final String INSERT =
      "INSERT INTO plant (id, name, tag) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING";
  private static final String SELECT = "SELECT name, tag FROM plant WHERE id = ?";

  private final JdbcOperations database;

  OneInsertPlantStore(JdbcOperations database) {
    this.database = database;
  }

  @Override
  public NewPlant putIfAbsent(NewPlant plant) {
    return database.execute(
        connection -> insert(connection, plant) ? plant : read(connection, plant.id()));
  }

  private static boolean insert(Connection connection, NewPlant plant) throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
      insert.setLong(1, plant.id());
      insert.setString(2, plant.name());
      insert.setString(3, plant.tag());
      return insert.executeUpdate() == 1;
    }
  }

  private static NewPlant read(Connection connection, long id) throws SQLException {
    try (PreparedStatement select = connection.prepareStatement(SELECT)) {
      select.setLong(1, id);
      try (ResultSet row = select.executeQuery()) {
        row.next();
        return new NewPlant(id, row.getString(1), row.getString(2));
      }
    }
  }
}
