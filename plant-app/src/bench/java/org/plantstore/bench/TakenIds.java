package org.plantstore.bench;

import java.sql.SQLException;

/** The plants that a retry finds: those which {@code create-plants.lua} sends as taken. */
final class TakenIds {

  /** Divides the ids of the script evenly. */
  static final long COUNT = 1_000_000;

  private TakenIds() {}

  /** Replaces the table's content by them. */
  static void fill(Database database) throws SQLException {
    database.awaitQuiet();
    database.execute(
        "TRUNCATE plant",
        """
        INSERT INTO plant (id, name, tag)
        SELECT (100000000 + number * (800000000 / %1$d)) * 10000000000,
               'Monstera deliciosa', 'tropical'
        FROM generate_series(0, %1$d - 1) AS number
        """
            .formatted(COUNT),
        "VACUUM ANALYZE plant",
        "CHECKPOINT");
  }
}
