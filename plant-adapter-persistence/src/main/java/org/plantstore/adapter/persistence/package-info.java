/**
 * Keeps plants in PostgreSQL 14 or later. A plant goes from {@code PostgresPlantStore} to {@code
 * GroupCommit}, which collects those of concurrent callers into batches, and to {@code PlantTable},
 * which writes a batch with one statement. {@code DatabaseStart} prepares the database. {@code
 * Shards} divides the plants of a table that Citus distributes.
 */
@NullMarked
package org.plantstore.adapter.persistence;

import org.jspecify.annotations.NullMarked;
