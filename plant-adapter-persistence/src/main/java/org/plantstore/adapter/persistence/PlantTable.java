package org.plantstore.adapter.persistence;

import io.micronaut.data.jdbc.runtime.JdbcOperations;
import jakarta.inject.Singleton;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.batch.BatchFailure;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.adapter.persistence.database.PostgresFailure;
import org.plantstore.adapter.persistence.database.RunningStatements;
import org.plantstore.domain.NewPlant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The table of plants. One statement decides who gets which ids, and commits by itself; stored
 * plants are read if an id was taken, or if no standby has confirmed the commit. Safe for use by
 * many threads.
 */
@Singleton
final class PlantTable implements GroupCommit.Table {

  private static final Logger LOG = LoggerFactory.getLogger(PlantTable.class);

  /** Makes an insert leave out the plants whose ids are taken; without it, one of them fails it. */
  private static final String UNLESS_TAKEN = " ON CONFLICT (id) DO NOTHING";

  /**
   * After so many inserts in a row that found all ids free, an insert that fails if one is taken is
   * tried first. It costs PostgreSQL a third less, but several times that if it fails, and is then
   * an error in the server's log.
   */
  private static final int INSERTS_UNTIL_ALL_FREE = 1_000;

  private static final String ID_TAKEN = "23505";

  /**
   * Where a standby has to confirm commits, a row that is seen may be one that none has confirmed,
   * such as after a crash. A message in the log of the server makes reading a commit too, which
   * waits until a standby has all that was committed before.
   */
  private static final String SELECT =
      """
      SELECT id, name, tag,
             (SELECT pg_logical_emit_message(true, 'plant-store', ''::text)
               WHERE current_setting('synchronous_standby_names') <> '') IS NOT NULL AS is_synchronous
      FROM plant WHERE id = ANY (?)
      """;

  private final JdbcOperations database;
  private final Shards shards;
  private final RunningStatements statements;
  private final AtomicInteger insertsSinceTaken = new AtomicInteger();

  PlantTable(JdbcOperations database, Shards shards, RunningStatements statements) {
    this.database = database;
    this.shards = shards;
    this.statements = statements;
  }

  /** The order of the ids matters: two statements that take ids in different orders deadlock. */
  @Override
  public Map<Long, NewPlant> putIfAbsent(SortedMap<Long, NewPlant> plants) throws BatchFailure {
    try {
      return database.execute(connection ->
          insertsAll(connection, plants.values()) ? plants : select(connection, plants.values()));
    } catch (RuntimeException e) {
      throw ExceptionTranslation.toBatchFailure(e);
    }
  }

  private boolean insertsAll(Connection connection, Collection<NewPlant> plants)
      throws SQLException {
    if (insertsSinceTaken.get() >= INSERTS_UNTIL_ALL_FREE) {
      try {
        return insert(connection, "", plants);
      } catch (SQLException e) {
        if (!ID_TAKEN.equals(e.getSQLState())) {
          throw e;
        }
      }
    }
    boolean areAllFree = insert(connection, UNLESS_TAKEN, plants);
    insertsSinceTaken.updateAndGet(inserts -> areAllFree ? inserts + 1 : 0);
    return areAllFree;
  }

  /**
   * Returns whether all plants were stored, by a commit that is confirmed. It counts the ids that
   * are returned: the number of changed rows is not reliable where a table is distributed.
   */
  private boolean insert(Connection connection, String unlessTaken, Collection<NewPlant> plants)
      throws SQLException {
    // Citus sends rows to their shard, but the elements of arrays to the coordinator first.
    boolean isOfArrays = plants.size() > 1 && !shards.isDistributed();
    String rows =
        isOfArrays
            ? "SELECT * FROM unnest(?, ?, ?)"
            : "VALUES (?, ?, ?)" + ", (?, ?, ?)".repeat(plants.size() - 1);
    String statement = "INSERT INTO plant (id, name, tag) " + rows + unlessTaken + " RETURNING id";
    try (PreparedStatement insert = connection.prepareStatement(statement)) {
      if (isOfArrays) {
        setArrays(insert, plants);
      } else {
        setRows(insert, plants);
      }
      int inserted = 0;
      try (ResultSet ids = statements.execute(insert)) {
        while (ids.next()) {
          inserted++;
        }
      }
      // Rows that no standby may have confirmed are read, which waits for one.
      return inserted == plants.size() && insert.getWarnings() == null;
    }
  }

  private static void setArrays(PreparedStatement insert, Collection<NewPlant> plants)
      throws SQLException {
    insert.setObject(1, idsOf(plants));
    insert.setObject(2, plants.stream().map(NewPlant::name).toArray(String[]::new));
    insert.setObject(3, plants.stream().map(NewPlant::tag).toArray(String[]::new));
  }

  private static void setRows(PreparedStatement insert, Collection<NewPlant> plants)
      throws SQLException {
    int parameter = 0;
    for (NewPlant plant : plants) {
      insert.setLong(++parameter, plant.id());
      insert.setString(++parameter, plant.name());
      insert.setString(++parameter, plant.tag());
    }
  }

  private Map<Long, NewPlant> select(Connection connection, Collection<NewPlant> plants)
      throws SQLException {
    try (PreparedStatement select = connection.prepareStatement(SELECT)) {
      select.setObject(1, idsOf(plants));
      Map<Long, NewPlant> stored = new HashMap<>();
      boolean isSynchronous = shards.isDistributed(); // then each node has a setting of its own
      try (ResultSet row = statements.execute(select)) {
        while (row.next()) {
          long id = row.getLong(1);
          stored.put(id, new NewPlant(id, row.getString(2), row.getString(3)));
          isSynchronous |= row.getBoolean("is_synchronous");
        }
      }
      requireConfirmation(select.getWarnings(), isSynchronous);
      return stored;
    }
  }

  /**
   * Requires that a standby has confirmed the commit, if one has to. A server that gives up waiting
   * for it reports that by a warning only, in any language, so any warning counts.
   */
  private static void requireConfirmation(@Nullable SQLWarning warning, boolean isSynchronous)
      throws SQLException {
    if (warning != null && isSynchronous) {
      LOG.warn("A commit is not confirmed by a standby: {}", warning.getMessage());
      throw new SQLException("no standby confirms what is stored", PostgresFailure.CANCELED);
    }
  }

  private static long[] idsOf(Collection<NewPlant> plants) {
    return plants.stream().mapToLong(NewPlant::id).toArray();
  }
}
