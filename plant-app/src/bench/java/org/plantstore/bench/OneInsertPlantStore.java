package org.plantstore.bench;

import io.micronaut.context.annotation.Replaces;
import jakarta.inject.Singleton;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;

/**
 * A store without group commit, used for comparison. Each call inserts one row in its own
 * transaction, on one of 10 connections. Only the class path of the {@code one_insert} service
 * contains this store. Any failure, including a taken id, causes an exception that ends the
 * benchmark.
 */
@Singleton
@Replaces(PlantStore.class)
final class OneInsertPlantStore implements PlantStore {

  private static final int CONNECTIONS = 10;
  private static final String INSERT =
      "INSERT INTO plant (id, name, tag) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING";

  private final BlockingQueue<PreparedStatement> idle = new LinkedBlockingQueue<>();

  OneInsertPlantStore() throws SQLException {
    for (int i = 0; i < CONNECTIONS; i++) {
      Connection connection =
          DriverManager.getConnection(
              System.getenv("DATABASE_URL"),
              System.getenv("DATABASE_USERNAME"),
              System.getenv("DATABASE_PASSWORD"));
      idle.add(connection.prepareStatement(INSERT));
    }
  }

  @Override
  public NewPlant putIfAbsent(NewPlant plant) {
    try {
      PreparedStatement insert = idle.take();
      insert.setLong(1, plant.id());
      insert.setString(2, plant.name());
      insert.setString(3, plant.tag());
      if (insert.executeUpdate() != 1) {
        throw new IllegalStateException("the id is taken: " + plant.id());
      }
      idle.add(insert);
      return plant;
    } catch (SQLException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
