package org.plantstore.bench;

import java.sql.SQLException;

/**
 * A table of many plants beside the one that the service uses. They change places by their names,
 * which a running service does not notice, so that one and the same process is measured on both.
 */
final class LargeTable {

  private final Database database;

  private LargeTable(Database database) {
    this.database = database;
  }

  /**
   * Makes the table.
   *
   * @param rows how many plants it has; their ids are random in the range of those that the load
   *     creates, and differ in their lower half
   */
  static LargeTable load(Database database, long rows) throws SQLException {
    database.execute(
        "CREATE TABLE plant_large (LIKE plant INCLUDING ALL)",
        "ALTER TABLE plant_large DROP CONSTRAINT plant_large_pkey",
        """
        INSERT INTO plant_large (id, name, tag)
        SELECT ((1000000000000000000 + (random() * 8e18)::bigint) >> 32 << 32) + number,
               'Monstera deliciosa', 'tropical'
        FROM generate_series(1, %d) AS number
        """
            .formatted(rows),
        "SET maintenance_work_mem = '512MB'; ALTER TABLE plant_large ADD PRIMARY KEY (id)",
        "VACUUM ANALYZE plant_large",
        "CHECKPOINT");
    return new LargeTable(database);
  }

  /**
   * Lets the service create its plants here from now on. There is no checkpoint before: the first
   * change of a page after one is written with the whole page, and here nearly every create would
   * be such a change for as long as a round takes.
   */
  void use() throws SQLException {
    database.execute(
        "BEGIN;"
            + " ALTER TABLE plant RENAME TO plant_empty;"
            + " ALTER TABLE plant_large RENAME TO plant;"
            + " COMMIT");
  }

  /** Gives the service its own table back. */
  void leave() throws SQLException {
    database.execute(
        "BEGIN;"
            + " ALTER TABLE plant RENAME TO plant_large;"
            + " ALTER TABLE plant_empty RENAME TO plant;"
            + " COMMIT");
  }

  void drop() throws SQLException {
    database.execute("DROP TABLE plant_large");
  }
}
