package org.plantstore.adapter.persistence;

import io.micronaut.data.connection.exceptions.ConnectionException;
import io.micronaut.data.connection.jdbc.exceptions.CannotGetJdbcConnectionException;
import io.micronaut.data.exceptions.DataAccessException;
import io.micronaut.data.jdbc.runtime.JdbcOperations;
import jakarta.inject.Singleton;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import org.plantstore.domain.NewPlant;

/**
 * The table of plants. One statement decides who gets which ids, and commits by itself; stored
 * plants are read only if an id was taken. Safe for use by many threads.
 */
@Singleton
final class PlantTable implements GroupCommit.Table {

  private static final String INSERT =
      "INSERT INTO plant (id, name, tag) SELECT * FROM unnest(?, ?, ?) ON CONFLICT (id) DO NOTHING";
  private static final String SELECT = "SELECT id, name, tag FROM plant WHERE id = ANY (?)";

  private final JdbcOperations database;

  PlantTable(JdbcOperations database) {
    this.database = database;
  }

  /** The order of the ids matters: two statements that take ids in different orders deadlock. */
  @Override
  public Map<Long, NewPlant> putIfAbsent(SortedMap<Long, NewPlant> plants) throws BatchFailure {
    try {
      return database.execute(connection ->
          insert(connection, plants.values()) == plants.size()
              ? plants
              : select(connection, plants.values()));
    } catch (CannotGetJdbcConnectionException e) {
      // The pool has tried for long enough.
      throw new BatchFailure(BatchFailure.Remedy.NONE, PostgresFailure.of(e).toDomain());
    } catch (ConnectionException | DataAccessException e) {
      PostgresFailure failure = PostgresFailure.of(e);
      throw new BatchFailure(failure.remedy(), failure.toDomain());
    }
  }

  private static int insert(Connection connection, Collection<NewPlant> plants)
      throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
      insert.setObject(1, idsOf(plants));
      insert.setObject(2, plants.stream().map(NewPlant::name).toArray(String[]::new));
      insert.setObject(3, plants.stream().map(NewPlant::tag).toArray(String[]::new));
      return insert.executeUpdate();
    }
  }

  private static Map<Long, NewPlant> select(Connection connection, Collection<NewPlant> plants)
      throws SQLException {
    try (PreparedStatement select = connection.prepareStatement(SELECT)) {
      select.setObject(1, idsOf(plants));
      Map<Long, NewPlant> stored = new HashMap<>();
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          long id = row.getLong(1);
          stored.put(id, new NewPlant(id, row.getString(2), row.getString(3)));
        }
      }
      return stored;
    }
  }

  private static long[] idsOf(Collection<NewPlant> plants) {
    return plants.stream().mapToLong(NewPlant::id).toArray();
  }
}
