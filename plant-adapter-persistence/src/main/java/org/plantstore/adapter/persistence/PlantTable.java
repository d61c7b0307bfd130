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
import org.postgresql.util.PSQLWarning;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The table of plants. One statement decides who gets which ids, and commits by itself; stored
 * plants are read only if an id was taken. Nearly always all ids are free, and an insert that may
 * then fail costs PostgreSQL a third less than one that leaves out what is taken; so the latter is
 * used only at first, and for a while after an id was taken. Safe for use by many threads.
 */
@Singleton
final class PlantTable implements GroupCommit.Table {

  private static final Logger LOG = LoggerFactory.getLogger(PlantTable.class);

  private enum Insert {
    /** Fails if one of the ids is taken. */
    ALL(""),
    /** Leaves out the plants whose ids are taken. */
    FREE(" ON CONFLICT (id) DO NOTHING");

    private final String one;
    private final String many;

    Insert(String ifTaken) {
      String insert = "INSERT INTO plant (id, name, tag) ";
      this.one = insert + "VALUES (?, ?, ?)" + ifTaken;
      this.many = insert + "SELECT * FROM unnest(?, ?, ?)" + ifTaken;
    }
  }

  /**
   * After so many statements in a row that found all ids free, the next one is expected to. One
   * that fails costs several times what the others gain, and is an error in the server's log.
   */
  private static final int STATEMENTS_UNTIL_ALL_FREE = 1_000;

  private static final String ID_TAKEN = "23505";

  /** The function of the server that warns when it has waited in vain. */
  private static final String WAIT_FOR_STANDBY = "SyncRepWaitForLSN";

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

  private final JdbcOperations database;
  private final RunningStatements statements;

  /**
   * Begins at zero, so that a table that others have changed is refused if it does not keep ids
   * unique: an insert that may fail would then store an id twice.
   */
  private final AtomicInteger statementsSinceTaken = new AtomicInteger();

  PlantTable(JdbcOperations database, RunningStatements statements) {
    this.database = database;
    this.statements = statements;
  }

  /** The order of the ids matters: two statements that take ids in different orders deadlock. */
  @Override
  public Map<Long, NewPlant> putIfAbsent(SortedMap<Long, NewPlant> plants) throws BatchFailure {
    try {
      return database.execute(
          connection -> statements.execute(connection, () -> putIfAbsent(connection, plants)));
    } catch (CannotGetJdbcConnectionException e) {
      // The pool has tried for long enough.
      throw BatchFailures.withoutConnection(e);
    } catch (ConnectionException | DataAccessException e) {
      throw BatchFailures.of(e);
    }
  }

  private Map<Long, NewPlant> putIfAbsent(Connection connection, SortedMap<Long, NewPlant> plants)
      throws SQLException {
    // Whatever the pool is set to: what is answered is committed.
    connection.setAutoCommit(true);
    if (insert(connection, plants.values()) == plants.size()) {
      return plants;
    }
    statementsSinceTaken.set(0);
    return select(connection, plants.values());
  }

  private int insert(Connection connection, Collection<NewPlant> plants) throws SQLException {
    if (statementsSinceTaken.get() >= STATEMENTS_UNTIL_ALL_FREE) {
      try {
        return insert(connection, Insert.ALL, plants);
      } catch (SQLException e) {
        if (!ID_TAKEN.equals(e.getSQLState())) {
          throw e;
        }
        statementsSinceTaken.set(0);
      }
    }
    int inserted = insert(connection, Insert.FREE, plants);
    statementsSinceTaken.incrementAndGet();
    return inserted;
  }

  private static int insert(Connection connection, Insert kind, Collection<NewPlant> plants)
      throws SQLException {
    if (plants.size() == 1) {
      NewPlant plant = plants.iterator().next();
      try (PreparedStatement insert = connection.prepareStatement(kind.one)) {
        insert.setLong(1, plant.id());
        insert.setString(2, plant.name());
        insert.setString(3, plant.tag());
        return inserted(insert);
      }
    }
    try (PreparedStatement insert = connection.prepareStatement(kind.many)) {
      insert.setObject(1, idsOf(plants));
      insert.setObject(2, plants.stream().map(NewPlant::name).toArray(String[]::new));
      insert.setObject(3, plants.stream().map(NewPlant::tag).toArray(String[]::new));
      return inserted(insert);
    }
  }

  /** Answers 0 if no standby has confirmed the rows: they are then read, which waits for one. */
  private static int inserted(PreparedStatement insert) throws SQLException {
    int number = insert.executeUpdate();
    return isConfirmed(insert) ? number : 0;
  }

  /**
   * A server that gives up waiting for a standby says by a warning alone that it has. Others, such
   * as of a table that wants to be vacuumed, have the same state, and texts in any language.
   */
  private static boolean isConfirmed(PreparedStatement statement) throws SQLException {
    for (SQLWarning each = statement.getWarnings(); each != null; each = each.getNextWarning()) {
      if (each instanceof PSQLWarning warning
          && WAIT_FOR_STANDBY.equals(warning.getServerErrorMessage().getRoutine())) {
        LOG.warn("A commit is not confirmed by a standby: {}", warning.getMessage());
        return false;
      }
    }
    return true;
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

  private static long[] idsOf(Collection<NewPlant> plants) {
    return plants.stream().mapToLong(NewPlant::id).toArray();
  }
}
