package org.plantstore.adapter.persistence.citus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.plantstore.adapter.persistence.DatabaseServer.SERVER;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.persistence.Calls;
import org.plantstore.adapter.persistence.WithEmptyDatabase;

/** Which distributions of the table a start refuses, and what it logs of the workers. */
@Tag("newest")
class DistributionTest implements WithEmptyDatabase {

  private static final Map<String, Object> UNMIGRATED = Map.of("database.migrate", "off");

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          UPDATE pg_dist_partition SET partmethod = 'n'         | the table plant must be distributed by the hash of id, each shard at one node, or not be managed by Citus; stop the instances at workers, and run SELECT undistribute_table('plant') and SELECT create_distributed_table('plant', 'id')
          UPDATE pg_dist_partition SET partkey = 'name'         | the table plant must be distributed by the hash of id, each shard at one node, or not be managed by Citus; stop the instances at workers, and run SELECT undistribute_table('plant') and SELECT create_distributed_table('plant', 'id')
          INSERT INTO pg_dist_placement VALUES (101, 2)         | the table plant must be distributed by the hash of id, each shard at one node, or not be managed by Citus; stop the instances at workers, and run SELECT undistribute_table('plant') and SELECT create_distributed_table('plant', 'id')
          UPDATE settings_of_workers SET result = 'off on 1000' | east:1 has synchronous_commit = off, and would lose plants in a crash; run ALTER ROLE "postgres" SET synchronous_commit = on
          """)
  void distribution_that_cannot_be_exact_or_may_lose_plants_is_refused(
      String change, String reason) {
    distribute(change);

    assertEquals(reason, SERVER.refusal(UNMIGRATED));
    assertEquals(List.of(reason), SERVER.check(false, UNMIGRATED));
    assertEquals(reason, SERVER.refusalOfMigration());
  }

  /** A change of the metadata, and the log; a session has settings of its own at its node. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          UPDATE settings_of_workers SET result = 'on off 0' |\
            WARN A worker of Citus loses plants in a crash: east:1 has fsync = off; run there \
          ALTER SYSTEM SET fsync = on, and SELECT pg_reload_conf(). \
          WARN A worker of Citus lets a locked id hold up others: east:1 has lock_timeout = 0; run \
          ALTER ROLE "postgres" SET lock_timeout = '1s'
          UPDATE settings_of_workers SET result = 'off off 0';\
           UPDATE pg_dist_local_group SET groupid = 1 | ''
          UPDATE settings_of_workers SET success = false, result = 'connection refused' |\
            INFO A worker of Citus cannot be asked for its settings: east:1 answers connection refused
          CREATE OR REPLACE FUNCTION run_command_on_all_nodes(text) RETURNS SETOF settings_of_workers\
           LANGUAGE plpgsql AS $$BEGIN RAISE insufficient_privilege; END$$ |\
            INFO The workers of Citus cannot be asked for their settings: insufficient_privilege \
          (SQLSTATE 42501)
          """)
  void worker_that_is_weak_or_cannot_be_asked_is_logged(String change, String lines) {
    distribute(change);

    assertEquals(
        lines,
        String.join(
            ". ",
            Calls.log(Distribution.class.getName(), () -> SERVER.connect(UNMIGRATED).close())));
  }

  private static void distribute(String change) {
    SERVER.migrate();
    DistributedTable.make();
    SERVER.execute(change);
  }
}
