package org.plantstore.adapter.persistence;

import io.micronaut.context.annotation.Property;
import io.micronaut.data.jdbc.runtime.JdbcOperations;
import jakarta.inject.Singleton;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.NewPlant;

/**
 * Inserts a batch of plants in a single statement, which is its own transaction. Reads plants only
 * if an id was already taken, or if the commit's outcome is unknown. This class is thread-safe.
 */
@Singleton
final class PlantTable implements GroupCommit.Table {

  /**
   * Inserts omit ON CONFLICT after this number of consecutive batches in which no id was taken.
   * Such inserts cost the server a third less, but a taken id causes an error in the server log.
   */
  private static final int BATCHES_BEFORE_PLAIN_INSERT = 1_000;

  private static final String INSERT = "INSERT INTO plant (id, name, tag) ";

  /** Casts the arrays, because the driver's simple query mode does not send their types. */
  private static final String ARRAYS = "unnest(?::bigint[], ?::text[], ?::text[])";

  private static final String UNLESS_TAKEN = " ON CONFLICT (id) DO NOTHING";
  private static final String RETURNING = " RETURNING id";

  /** Inserts no plants, but requires the same privileges for the table as the other statements. */
  static final String TRIAL =
      INSERT + "SELECT id, name, tag FROM plant WHERE false" + UNLESS_TAKEN + RETURNING;

  /** Limits each lock wait to 20 ms, so that a locked row does not delay other plants for long. */
  private static final String RETRIED =
      "SELECT plant.* FROM set_config('lock_timeout', '20ms', true), " + ARRAYS + " AS plant";

  /** Writes to the WAL, because the commit of a read-only query would not wait for any standby. */
  static final String WRITE_TO_WAL = "pg_logical_emit_message(true, 'plant-store', ''::text)";

  /**
   * Reads plants by their ids. After a crash, a row may be visible although no standby has received
   * it. If there are synchronous standbys, the query waits for them to confirm earlier commits.
   */
  private static final String SELECT =
      "SELECT id, name, tag, (SELECT "
          + WRITE_TO_WAL
          + " WHERE current_setting('synchronous_standby_names') <> '') IS NOT NULL AS is_synchronous"
          + " FROM plant WHERE id = ANY (?::bigint[])";

  private final JdbcOperations database;
  private final Duration timeout;
  private final boolean hasCitus;
  private final AtomicInteger batchesSinceTaken = new AtomicInteger();

  /** When each running statement began ({@link System#nanoTime}). */
  private final Map<PreparedStatement, Long> running = new ConcurrentHashMap<>();

  PlantTable(
      JdbcOperations database,
      DatabaseSettings settings,
      @Property(name = Shards.HAS_CITUS) boolean hasCitus) {
    this.database = database;
    this.timeout = settings.statementTimeout;
    this.hasCitus = hasCitus;
  }

  /** Inserts plants in ascending order of id, so that concurrent inserts cannot deadlock. */
  @Override
  public Map<Long, @Nullable NewPlant> putIfAbsent(
      SortedMap<Long, NewPlant> plants, boolean isRetry) throws DatabaseFailure {
    try {
      return database.execute(connection ->
          insertAll(connection, plants.values(), isRetry)
              ? plants
              : select(connection, plants.values()));
    } catch (RuntimeException e) {
      throw DatabaseFailure.in(e).orElseThrow(() -> e);
    }
  }

  /**
   * Asks the server to cancel statements that exceed their timeout, because the server's own
   * statement timeout does not apply while a commit waits for a standby. Later statements on the
   * same connection are not affected.
   *
   * @param executor the executor for the cancel requests, because sending such a request may block
   * @return whether other statements are still running
   */
  boolean cancelOverdue(Executor executor) {
    long latest = System.nanoTime() - timeout.toNanos();
    running.forEach((statement, began) -> {
      if (began - latest < 0 && running.remove(statement, began)) {
        executor.execute(() -> cancel(statement));
      }
    });
    return !running.isEmpty();
  }

  private static void cancel(PreparedStatement statement) {
    try {
      statement.cancel();
    } catch (SQLException e) {
      // The server cannot be reached, so the socket timeout will end the statement.
    }
  }

  /** Executes a query, and reads its entire result into memory. */
  private ResultSet execute(PreparedStatement query) throws SQLException {
    running.put(query, System.nanoTime());
    try {
      return query.executeQuery();
    } finally {
      running.remove(query);
    }
  }

  private boolean insertAll(Connection connection, Collection<NewPlant> plants, boolean isRetry)
      throws SQLException {
    if (!isRetry && batchesSinceTaken.get() >= BATCHES_BEFORE_PLAIN_INSERT) {
      try {
        return insert(connection, plants, rowsOf(plants));
      } catch (SQLException e) {
        if (!"23505".equals(e.getSQLState())) { // unique_violation: an id is taken
          throw e;
        }
      }
    }
    // RETRIED would limit lock waits on a Citus coordinator, but not on its workers.
    String rows = isRetry && !hasCitus ? RETRIED : rowsOf(plants);
    boolean isAllConfirmed = insert(connection, plants, rows + UNLESS_TAKEN);
    batchesSinceTaken.updateAndGet(batches -> isAllConfirmed ? batches + 1 : 0);
    return isAllConfirmed;
  }

  /** Returns the rows as SQL. Citus sends an INSERT directly to a shard only if it uses VALUES. */
  private String rowsOf(Collection<NewPlant> plants) {
    return plants.size() > 1 && !hasCitus
        ? "SELECT * FROM " + ARRAYS
        : "VALUES (?, ?, ?)" + ", (?, ?, ?)".repeat(plants.size() - 1);
  }

  /**
   * Returns whether all plants were inserted in a confirmed commit. Counts the returned ids,
   * because a server that forwards rows reports how many it received, not how many it inserted.
   */
  private boolean insert(Connection connection, Collection<NewPlant> plants, String rows)
      throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement(INSERT + rows + RETURNING)) {
      if (rows.startsWith("VALUES")) {
        int parameter = 0;
        for (NewPlant plant : plants) {
          insert.setLong(++parameter, plant.id());
          insert.setString(++parameter, plant.name());
          insert.setString(++parameter, plant.tag());
        }
      } else {
        insert.setObject(1, idsOf(plants));
        insert.setObject(2, plants.stream().map(NewPlant::name).toArray(String[]::new));
        insert.setObject(3, plants.stream().map(NewPlant::tag).toArray(String[]::new));
      }
      int inserted = 0;
      try (ResultSet ids = execute(insert)) {
        while (ids.next()) {
          inserted++;
        }
      }
      // Returns false after a warning, because standbys might not have confirmed the commit.
      return inserted == plants.size() && insert.getWarnings() == null;
    }
  }

  private Map<Long, @Nullable NewPlant> select(Connection connection, Collection<NewPlant> plants)
      throws SQLException {
    try (PreparedStatement select = connection.prepareStatement(SELECT)) {
      select.setObject(1, idsOf(plants));
      Map<Long, @Nullable NewPlant> rows = new HashMap<>();
      // One Citus node does not know whether others have standbys, so this code assumes they do.
      boolean isSynchronous = hasCitus;
      try (ResultSet row = execute(select)) {
        while (row.next()) {
          rows.put(row.getLong(1), plant(row));
          isSynchronous |= row.getBoolean("is_synchronous");
        }
      }
      // A server that stops waiting for a standby sends only a warning, whose language may vary.
      if (isSynchronous && select.getWarnings() != null) {
        throw new SQLException("no standby has confirmed the commit", DatabaseFailure.CANCELED);
      }
      return rows;
    }
  }

  /** Returns the plant, or null if another program or version wrote an invalid row. */
  private static @Nullable NewPlant plant(ResultSet row) throws SQLException {
    try {
      String name = row.getString(2);
      return name == null ? null : new NewPlant(row.getLong(1), name, row.getString(3));
    } catch (InvalidPlantException e) {
      return null;
    }
  }

  private static long[] idsOf(Collection<NewPlant> plants) {
    return plants.stream().mapToLong(NewPlant::id).toArray();
  }
}
