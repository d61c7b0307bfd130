package org.plantstore.adapter.persistence;

import static java.util.Objects.requireNonNull;

import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.time.Duration;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;

/** Keeps plants in a table of PostgreSQL, and commits those of concurrent callers together. */
@Singleton
final class PostgresPlantStore implements PlantStore {

  /** Larger batches make a commit hardly cheaper, and its callers wait longer. */
  private static final BatchQueue.Limits LIMITS =
      new BatchQueue.Limits(256, 4 * 1024 * 1024, 8_192, 64 * 1024 * 1024);

  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final GroupCommit groupCommit;

  PostgresPlantStore(PlantTable table) {
    this.groupCommit = new GroupCommit(table, LIMITS, PATIENCE);
  }

  @Override
  public NewPlant putIfAbsent(NewPlant plant) {
    return groupCommit.putIfAbsent(requireNonNull(plant, "plant"));
  }

  /** The database is still there: what this store needs is closed after it. */
  @PreDestroy
  void close() {
    groupCommit.close();
  }
}
