package org.plantstore.adapter.persistence;

import io.micronaut.data.jdbc.runtime.JdbcOperations;
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
import org.plantstore.adapter.persistence.batch.BatchFailure;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.adapter.persistence.database.PostgresFailure;
import org.plantstore.adapter.persistence.database.RunningStatements;
import org.plantstore.domain.NewPlant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The table of plants. One statement inserts a batch, and commits by itself. Stored plants are read
 * only if an id was taken, or no standby has confirmed the commit. Safe for use by many threads.
 */
final class PlantTable implements GroupCommit.Table {

  /** How plants are written into a statement. */
  enum Form {
    /** As an array of each column: the same statement for every number of plants. */
    ARRAYS,
    /** As a row of each plant, which a server can pass on to another that stores it. */
    ROWS
  }

  private static final Logger LOG = LoggerFactory.getLogger(PlantTable.class);

  /**
   * After this many batches in a row without a taken id, the insert omits ON CONFLICT. The plain
   * insert costs PostgreSQL a third less; a unique violation costs much more, and an error in the
   * server's log.
   */
  private static final int BATCHES_BEFORE_PLAIN_INSERT = 1_000;

  /**
   * A row without a name, of another program, is no plant. After a crash a row may be visible
   * although no standby has it. So the query writes a message to the WAL: its own commit then waits
   * for a standby, and with it all earlier commits.
   */
  private static final String SELECT =
      """
      SELECT id, name, tag,
             (SELECT pg_logical_emit_message(true, 'plant-store', ''::text)
               WHERE current_setting('synchronous_standby_names') <> '') IS NOT NULL AS is_synchronous
      FROM plant WHERE id = ANY (?) AND name IS NOT NULL
      """;

  private final JdbcOperations database;
  private final RunningStatements statements;
  private final Form form;
  private final AtomicInteger batchesSinceTaken = new AtomicInteger();

  PlantTable(JdbcOperations database, RunningStatements statements, Form form) {
    this.database = database;
    this.statements = statements;
    this.form = form;
  }

  /** Requires ids in ascending order: statements with different orders could deadlock. */
  @Override
  public Map<Long, NewPlant> putIfAbsent(SortedMap<Long, NewPlant> plants) throws BatchFailure {
    try {
      return database.execute(connection ->
          insertAll(connection, plants.values()) ? plants : select(connection, plants.values()));
    } catch (RuntimeException e) {
      throw ExceptionTranslation.toBatchFailure(e);
    }
  }

  private boolean insertAll(Connection connection, Collection<NewPlant> plants)
      throws SQLException {
    if (batchesSinceTaken.get() >= BATCHES_BEFORE_PLAIN_INSERT) {
      try {
        return insert(connection, "", plants);
      } catch (SQLException e) {
        if (!"23505".equals(e.getSQLState())) { // unique_violation: an id is taken
          throw e;
        }
      }
    }
    boolean isAllConfirmed = insert(connection, " ON CONFLICT (id) DO NOTHING", plants);
    batchesSinceTaken.updateAndGet(batches -> isAllConfirmed ? batches + 1 : 0);
    return isAllConfirmed;
  }

  /**
   * Returns whether all plants were stored by a confirmed commit. Counts ids, because a server that
   * passes rows on reports how many it was sent.
   */
  private boolean insert(Connection connection, String unlessTaken, Collection<NewPlant> plants)
      throws SQLException {
    boolean usesArrays = plants.size() > 1 && form == Form.ARRAYS;
    String rows =
        usesArrays
            ? "SELECT * FROM unnest(?, ?, ?)"
            : "VALUES (?, ?, ?)" + ", (?, ?, ?)".repeat(plants.size() - 1);
    String statement = "INSERT INTO plant (id, name, tag) " + rows + unlessTaken + " RETURNING id";
    try (PreparedStatement insert = connection.prepareStatement(statement)) {
      setParameters(insert, usesArrays, plants);
      int inserted = 0;
      try (ResultSet ids = statements.execute(insert)) {
        while (ids.next()) {
          inserted++;
        }
      }
      // A warning may report that no standby has confirmed the commit; reading waits for one.
      return inserted == plants.size() && insert.getWarnings() == null;
    }
  }

  private static void setParameters(
      PreparedStatement insert, boolean usesArrays, Collection<NewPlant> plants)
      throws SQLException {
    if (usesArrays) {
      insert.setObject(1, idsOf(plants));
      insert.setObject(2, plants.stream().map(NewPlant::name).toArray(String[]::new));
      insert.setObject(3, plants.stream().map(NewPlant::tag).toArray(String[]::new));
      return;
    }
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
      // With Citus, this server does not know whether the nodes have standbys.
      boolean isSynchronous = form == Form.ROWS;
      try (ResultSet row = statements.execute(select)) {
        while (row.next()) {
          long id = row.getLong(1);
          stored.put(id, new NewPlant(id, row.getString(2), row.getString(3)));
          isSynchronous |= row.getBoolean("is_synchronous");
        }
      }
      // A server that stops waiting for a standby only warns, in any language.
      SQLWarning warning = select.getWarnings();
      if (warning != null && isSynchronous) {
        LOG.warn("A commit is not confirmed by a standby: {}", warning.getMessage());
        throw new SQLException("no standby has confirmed the commit", PostgresFailure.CANCELED);
      }
      return stored;
    }
  }

  private static long[] idsOf(Collection<NewPlant> plants) {
    return plants.stream().mapToLong(NewPlant::id).toArray();
  }
}
