package org.plantstore.adapter.persistence.batch;

/**
 * A part of the table of plants. Only plants of one shard share a statement.
 *
 * @param number tells shards apart
 * @param lane the number of the group commit that writes to the shard
 * @param node the server that keeps the shard, as host and port; empty where the table is whole
 */
public record Shard(int number, int lane, String node) {

  /** A table that is not distributed. */
  public static final Shard WHOLE = new Shard(0, 0, "");

  /** Returns whether this is a part of a distributed table. */
  public boolean isDistributed() {
    return !node.isEmpty();
  }
}
