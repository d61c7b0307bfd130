package org.plantstore.adapter.persistence.citus;

import static org.plantstore.adapter.persistence.DatabaseServer.SERVER;

/**
 * The metadata of Citus for the table of plants, as it keeps them itself, in the schema of the
 * table. Ids whose hash is negative are kept by the node east:1, the others by west:2.
 */
final class DistributedTable {

  private DistributedTable() {}

  static void make() {
    SERVER.execute(
        """
        CREATE TABLE pg_dist_partition (logicalrelid regclass, partmethod "char", partkey text);
        CREATE TABLE pg_dist_shard (
          logicalrelid regclass, shardid bigint, shardminvalue text, shardmaxvalue text);
        CREATE TABLE pg_dist_placement (shardid bigint, groupid int);
        CREATE TABLE pg_dist_node (nodeid int, groupid int, nodename text, nodeport int, noderole text);
        CREATE TABLE settings_of_workers (nodeid int, success bool, result text);
        CREATE TABLE pg_dist_local_group (groupid int);
        INSERT INTO pg_dist_local_group VALUES (0);
        CREATE FUNCTION column_to_column_name(regclass, text) RETURNS text
          LANGUAGE SQL AS 'SELECT $2';
        CREATE FUNCTION run_command_on_all_nodes(text) RETURNS SETOF settings_of_workers
          LANGUAGE SQL AS 'SELECT * FROM settings_of_workers';
        INSERT INTO pg_dist_partition VALUES ('plant', 'h', 'id');
        INSERT INTO pg_dist_shard VALUES ('plant', 101, '-2147483648', '-1');
        INSERT INTO pg_dist_shard VALUES ('plant', 102, '0', '2147483647');
        INSERT INTO pg_dist_placement VALUES (101, 1), (102, 2);
        INSERT INTO pg_dist_node VALUES (0, 0, 'home', 0, 'primary'),
          (1, 1, 'east', 1, 'primary'), (2, 2, 'west', 2, 'primary');
        INSERT INTO settings_of_workers VALUES (0, true, 'off off 0'), (1, true, 'on on 1s');
        """);
  }

  /** Makes a trigger do this before each row whose id the node east keeps. */
  static void whenEastIsAsked(String action) {
    SERVER.execute(
        """
        CREATE OR REPLACE FUNCTION ask_east() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN
            IF hashint8(NEW.id) < 0 THEN
              %s;
            END IF;
            RETURN NEW;
          END$$;
        CREATE OR REPLACE TRIGGER ask_east BEFORE INSERT ON plant
          FOR EACH ROW EXECUTE FUNCTION ask_east();
        """
            .formatted(action));
  }
}
