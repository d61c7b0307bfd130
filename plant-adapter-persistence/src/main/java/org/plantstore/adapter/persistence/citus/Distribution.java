package org.plantstore.adapter.persistence.citus;

import io.micronaut.context.exceptions.ConfigurationException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import org.plantstore.adapter.persistence.database.PostgresFailure;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The requirements on a table that Citus distributes, and on the nodes that store it.
 *
 * @param account the name of the store's account
 */
public record Distribution(String account) {

  private static final Logger LOG = LoggerFactory.getLogger(Distribution.class);

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

  /** The settings of the other nodes with plants, where the store sets up no session. */
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
   * Requires a distribution that keeps the store's rules, unless Citus does not know the table.
   *
   * @throws ConfigurationException if the distribution or a node does not keep the rules
   */
  public void require(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(DISTRIBUTION)) {
      if (!row.next()) {
        return;
      }
      if (!row.getBoolean("is_exact")) {
        throw new ConfigurationException(
            "the table plant must be distributed by the hash of id, each shard at one node, or not"
                + " be managed by Citus; stop the instances at workers, and run"
                + " SELECT undistribute_table('plant') and"
                + " SELECT create_distributed_table('plant', 'id')");
      }
      requireWorkers(statement);
    }
  }

  private void requireWorkers(Statement statement) {
    try (ResultSet row = statement.executeQuery(WORKERS)) {
      while (row.next()) {
        String node = row.getString("node");
        String answer = row.getString("result");
        if (row.getBoolean("success")) {
          requireWorker(node, answer.split(" ", -1));
        } else {
          String fault = node + " answers " + answer;
          LOG.info("A worker of Citus cannot be asked for its settings: {}", fault);
        }
      }
    } catch (SQLException e) {
      // Without the right to ask, or with a silent worker, the plants of the others can be served.
      String failure = new PostgresFailure(e).describe();
      LOG.info("The workers of Citus cannot be asked for their settings: {}", failure);
    }
  }

  private void requireWorker(String node, String[] settings) {
    String alter = "; run ALTER ROLE \"" + account + "\" SET ";
    if (!SAFE_COMMITS.contains(settings[0])) {
      String fault = node + " has synchronous_commit = " + settings[0];
      throw new ConfigurationException(
          fault + ", and would lose plants in a crash" + alter + "synchronous_commit = on");
    }
    if (settings[1].equals("off")) {
      String remedy = "run there ALTER SYSTEM SET fsync = on, and SELECT pg_reload_conf()";
      LOG.warn("A worker of Citus loses plants in a crash: {} has fsync = off; {}", node, remedy);
    }
    if (settings[2].equals("0")) {
      String fault = node + " has lock_timeout = 0" + alter + "lock_timeout = '1s'";
      LOG.warn("A worker of Citus lets a locked id hold up others: {}", fault);
    }
  }
}
