/**
 * Stores plants in PostgreSQL 14 or later. {@code PostgresPlantStore} passes a plant to {@code
 * GroupCommit}, which collects the plants of concurrent callers into batches, and {@code
 * PlantTable} writes a batch with one statement. {@code DatabaseStart} prepares the database. If
 * Citus distributes the table, {@code Shards} passes a plant to the group commit of its {@code
 * Node}.
 */
@NullMarked
package org.plantstore.adapter.persistence;

import org.jspecify.annotations.NullMarked;
