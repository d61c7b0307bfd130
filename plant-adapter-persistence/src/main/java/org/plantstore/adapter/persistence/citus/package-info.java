/**
 * Plants in a table that Citus distributes to other servers. Reached only by the factory of the
 * store's queue, so that nothing else has to know of shards, and nothing here is loaded where the
 * database has no Citus.
 *
 * <ul>
 *   <li>A node is a server that stores plants.
 *   <li>A shard is the part of the table with a range of hash values. It is stored by one node.
 *   <li>A lane is a group commit of one or more shards of a node; a batch has plants of one shard.
 *   <li>A slot is the right to have a batch in flight, for which the pool has a connection.
 * </ul>
 */
@NullMarked
package org.plantstore.adapter.persistence.citus;

import org.jspecify.annotations.NullMarked;
