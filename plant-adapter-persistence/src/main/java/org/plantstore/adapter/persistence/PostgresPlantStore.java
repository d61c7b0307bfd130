package org.plantstore.adapter.persistence;

import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.MeterRegistry;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.adapter.persistence.database.ConnectionPool;
import org.plantstore.adapter.persistence.database.DatabaseTimeouts;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;

/** Keeps plants in a table of PostgreSQL, and commits those of concurrent callers together. */
@Singleton
final class PostgresPlantStore implements PlantStore {

  /** Larger batches make a commit hardly cheaper, and its callers wait longer. */
  private static final GroupCommit.Limits LIMITS = new GroupCommit.Limits(256, 4 * 1024 * 1024);

  private final GroupCommit groupCommit;
  private final ConnectionPool pool;

  PostgresPlantStore(
      PlantTable table,
      ConnectionPool pool,
      DatabaseTimeouts timeouts,
      @Nullable MeterRegistry registry) {
    StoreMetrics metrics = new StoreMetrics(registry);
    this.groupCommit = new GroupCommit(metrics.measured(table), LIMITS, timeouts.create());
    metrics.watch(groupCommit);
    this.pool = pool;
  }

  @Override
  public NewPlant putIfAbsent(NewPlant plant) {
    try {
      return groupCommit.putIfAbsent(requireNonNull(plant, "plant"));
    } catch (PlantStoreUnavailableException e) {
      String failure = pool.lastFailure();
      throw failure == null
          ? e
          : new PlantStoreUnavailableException(e.getMessage() + "; connecting fails: " + failure);
    }
  }

  /** The database is still there: what this store needs is closed after it. */
  @PreDestroy
  void close() {
    groupCommit.close();
  }
}
