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
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.plantstore.adapter.persistence.batch.BatchFailure;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.adapter.persistence.database.PostgresFailure;
import org.plantstore.adapter.persistence.database.RunningStatements;
import org.plantstore.domain.NewPlant;
import org.postgresql.util.PSQLWarning;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The table of plants. One statement decides who gets which ids, and commits by itself; stored
 * plants are read if an id was taken, or if no standby has confirmed the commit. Nearly always all
 * ids are free, and an insert that may then fail costs PostgreSQL a third less than one that leaves
 * out what is taken. Safe for use by many threads.
 */
@Singleton
final class PlantTable implements GroupCommit.Table {

  private static final Logger LOG = LoggerFactory.getLogger(PlantTable.class);

  /** Returns the ids that were stored: a count is not reliable where a table is distributed. */
  private enum Insert {
    /** Fails if one of the ids is taken. */
    ALL(""),
    /** Leaves out the plants whose ids are taken. */
    FREE(" ON CONFLICT (id) DO NOTHING");

    private final String statement;
    private final String ofOne;
    private final String ofArrays;

    Insert(String ifTaken) {
      this.statement = "INSERT INTO plant (id, name, tag) %s" + ifTaken + " RETURNING id";
      this.ofOne = ofRows(1);
      this.ofArrays = statement.formatted("SELECT * FROM unnest(?, ?, ?)");
    }

    /** Citus sends rows to their shard, but the elements of arrays to the coordinator first. */
    private String of(int rows) {
      return rows == 1 ? ofOne : ofRows(rows);
    }

    private String ofRows(int rows) {
      return statement.formatted("VALUES (?, ?, ?)" + ", (?, ?, ?)".repeat(rows - 1));
    }
  }

  /**
   * After so many inserts in a row that found all ids free, the next one is expected to. One that
   * fails costs several times what the others gain, and is an error in the server's log.
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
               WHERE current_setting('synchronous_standby_names') <> '')
      FROM plant WHERE id = ANY (?)
      """;

  /** What warns of having waited in vain: the server's own function, and Citus' for a worker. */
  private static final Set<String> WAIT_FOR_STANDBY =
      Set.of("SyncRepWaitForLSN", "DefaultCitusNoticeReceiver");

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
      return database.execute(
          connection -> statements.execute(connection, () -> putIfAbsent(connection, plants)));
    } catch (RuntimeException e) {
      throw ExceptionTranslation.toBatchFailure(e);
    }
  }

  private Map<Long, NewPlant> putIfAbsent(Connection connection, SortedMap<Long, NewPlant> plants)
      throws SQLException {
    return insertsAll(connection, plants.values()) ? plants : select(connection, plants.values());
  }

  private boolean insertsAll(Connection connection, Collection<NewPlant> plants)
      throws SQLException {
    if (insertsSinceTaken.get() >= INSERTS_UNTIL_ALL_FREE) {
      try {
        return insert(connection, Insert.ALL, plants);
      } catch (SQLException e) {
        if (!ID_TAKEN.equals(e.getSQLState())) {
          throw e;
        }
      }
    }
    boolean areAllFree = insert(connection, Insert.FREE, plants);
    insertsSinceTaken.updateAndGet(inserts -> areAllFree ? inserts + 1 : 0);
    return areAllFree;
  }

  /** Returns whether all plants were stored, by a commit that is confirmed. */
  private boolean insert(Connection connection, Insert kind, Collection<NewPlant> plants)
      throws SQLException {
    boolean isOfArrays = plants.size() > 1 && !shards.isDistributed();
    try (PreparedStatement insert =
        connection.prepareStatement(isOfArrays ? kind.ofArrays : kind.of(plants.size()))) {
      if (isOfArrays) {
        setArrays(insert, plants);
      } else {
        setRows(insert, plants);
      }
      int inserted = 0;
      try (ResultSet ids = insert.executeQuery()) {
        while (ids.next()) {
          inserted++;
        }
      }
      // Rows that no standby has confirmed are read, which waits for one.
      return inserted == plants.size() && isConfirmed(insert);
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
      if (!isConfirmed(select)) {
        throw new SQLException("no standby confirms what is stored", PostgresFailure.CANCELED);
      }
      return stored;
    }
  }

  /**
   * Returns whether a standby has confirmed the commit, if one has to. A server that gives up
   * waiting for it reports that by a warning alone. Others, such as of a table that wants to be
   * vacuumed, have the same state, and texts in any language.
   */
  private static boolean isConfirmed(PreparedStatement statement) throws SQLException {
    for (SQLWarning each = statement.getWarnings(); each != null; each = each.getNextWarning()) {
      if (each instanceof PSQLWarning warning
          && WAIT_FOR_STANDBY.contains(warning.getServerErrorMessage().getRoutine())) {
        LOG.warn("A commit is not confirmed by a standby: {}", warning.getMessage());
        return false;
      }
    }
    return true;
  }

  private static long[] idsOf(Collection<NewPlant> plants) {
    return plants.stream().mapToLong(NewPlant::id).toArray();
  }
}
