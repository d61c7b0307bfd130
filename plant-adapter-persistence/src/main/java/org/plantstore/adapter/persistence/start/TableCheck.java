package org.plantstore.adapter.persistence.start;

import io.micronaut.context.exceptions.ConfigurationException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Set;
import org.plantstore.adapter.persistence.database.DatabaseAccess;
import org.plantstore.adapter.persistence.database.PostgresFailure;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks that the table of plants is what this version needs, also where somebody else has made it,
 * and that Citus, if it distributes the table, can keep the store's rules.
 */
public record TableCheck(DatabaseAccess access) {

  private static final Logger LOG = LoggerFactory.getLogger(TableCheck.class);
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private static final String WANTED = "id bigint, name text, tag text";

  /** Other columns are their owner's, unless an insert has to set them. */
  private static final String TABLE =
      """
      SELECT (SELECT string_agg(
                attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attname)
              FROM pg_attribute
              WHERE attrelid = to_regclass('plant')
                AND (attname IN ('id', 'name', 'tag')
                  OR attnum > 0 AND attnotnull AND NOT atthasdef AND attidentity = ''
                    AND NOT attisdropped)) AS columns,
             EXISTS (SELECT FROM pg_index JOIN pg_attribute
                       ON attrelid = indrelid AND attname = 'id' AND indkey::text = attnum::text
                     WHERE indrelid = to_regclass('plant')
                       AND indisunique AND indisvalid AND indimmediate AND indpred IS NULL) AS is_unique,
             to_regclass('pg_dist_partition') IS NOT NULL AS is_citus
      """;

  /** No row if Citus does not know the table. */
  private static final String DISTRIBUTION =
      """
      SELECT partmethod = 'h'
               AND column_to_column_name(logicalrelid, partkey) = 'id'
               AND NOT EXISTS (SELECT FROM pg_dist_shard shard JOIN pg_dist_placement USING (shardid)
                               WHERE shard.logicalrelid = distributed.logicalrelid
                               GROUP BY shardid HAVING count(*) > 1) AS is_exact
      FROM pg_dist_partition distributed
      WHERE logicalrelid = to_regclass('plant')
      """;

  /** What the session of the store sets, at the nodes with plants that it does not reach. */
  private static final String WORKERS =
      """
      SELECT nodename || ':' || nodeport AS node, success, result
      FROM run_command_on_all_nodes($$
        SELECT concat_ws(' ', current_setting('synchronous_commit'), current_setting('fsync'),
          current_setting('lock_timeout'))
        $$) JOIN pg_dist_node USING (nodeid)
      WHERE groupid IN (SELECT groupid FROM pg_dist_shard JOIN pg_dist_placement USING (shardid)
                        WHERE logicalrelid = to_regclass('plant'))
        AND groupid <> (SELECT groupid FROM pg_dist_local_group)
      """;

  private static final Set<String> SAFE_COMMITS = Set.of("on", "remote_apply");

  /**
   * Checks the table.
   *
   * @throws ConfigurationException if it is not there, or cannot be used
   */
  public void run() {
    try (Connection connection = access.dataSource(TIMEOUT).getConnection();
        Statement statement = connection.createStatement()) {
      boolean isCitus;
      try (ResultSet row = statement.executeQuery(TABLE)) {
        row.next();
        requireColumns(row.getString("columns"), row.getBoolean("is_unique"));
        isCitus = row.getBoolean("is_citus");
      }
      if (isCitus && isDistributed(statement)) {
        checkWorkers(statement);
      }
    } catch (SQLException e) {
      throw new ConfigurationException(
          "the table plant cannot be checked: " + new PostgresFailure(e).describe());
    }
  }

  private void requireColumns(String columns, boolean isUnique) {
    if (columns == null) {
      throw new ConfigurationException(
          "there is no table plant for %s; run plant-store migrate, and accounts.sql after it"
              .formatted(access.username()));
    }
    if (!columns.equals(WANTED) || !isUnique) {
      throw new ConfigurationException(
          "the table plant must have the columns %s, and a unique index on id, but has %s%s"
              .formatted(WANTED, columns, isUnique ? "" : ", and no such index"));
    }
  }

  private static boolean isDistributed(Statement statement) throws SQLException {
    try (ResultSet row = statement.executeQuery(DISTRIBUTION)) {
      if (!row.next()) {
        return false;
      }
      if (!row.getBoolean("is_exact")) {
        throw new ConfigurationException(
            "the table plant must be distributed by the hash of id, each shard at one node, or not"
                + " be managed by Citus; stop the instances at workers, and run SELECT undistribute_table('plant') and"
                + " SELECT create_distributed_table('plant', 'id')");
      }
      return true;
    }
  }

  private void checkWorkers(Statement statement) {
    try (ResultSet row = statement.executeQuery(WORKERS)) {
      while (row.next()) {
        if (row.getBoolean("success")) {
          checkWorker(row.getString("node"), row.getString("result").split(" ", -1));
        } else {
          LOG.info(
              "A worker of Citus cannot be asked for its settings: {} answers {}",
              row.getString("node"),
              row.getString("result"));
        }
      }
    } catch (SQLException e) {
      // The account may not ask, or a worker is silent, which is no reason not to serve the others.
      LOG.info(
          "The workers of Citus cannot be asked for their settings: {}",
          new PostgresFailure(e).describe());
    }
  }

  private void checkWorker(String node, String[] settings) {
    if (!SAFE_COMMITS.contains(settings[0])) {
      throw new ConfigurationException(
          ("%s has synchronous_commit = %s, and would lose plants in a crash; run"
                  + " ALTER ROLE \"%s\" SET synchronous_commit = on")
              .formatted(node, settings[0], access.username()));
    }
    if (settings[1].equals("off")) {
      LOG.warn(
          "A worker of Citus loses plants in a crash: {} has fsync = off; run there"
              + " ALTER SYSTEM SET fsync = on, and SELECT pg_reload_conf()",
          node);
    }
    if (settings[2].equals("0")) {
      LOG.warn(
          "A worker of Citus lets a locked id hold up others: {} has lock_timeout = 0; run"
              + " ALTER ROLE \"{}\" SET lock_timeout = '1s'",
          node,
          access.username());
    }
  }
}
