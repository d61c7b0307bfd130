/**
 * Stores plants in PostgreSQL 14 or later. {@code DatabaseStart} prepares the database during
 * startup. {@code PostgresPlantStore} passes each plant to {@code GroupCommit}, which collects the
 * plants of concurrent callers into batches. {@code PlantTable} writes a batch with one statement.
 * If Citus distributes the table, {@code Shards} passes each plant to the group commit of its
 * {@code Node}.
 */
@NullMarked
package org.plantstore.adapter.persistence;

import org.jspecify.annotations.NullMarked;
