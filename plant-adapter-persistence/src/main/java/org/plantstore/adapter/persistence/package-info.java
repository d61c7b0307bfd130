/**
 * Stores plants in PostgreSQL 14 or later. {@code DatabaseStart} prepares the database during
 * startup. {@code PostgresPlantStore} passes each plant to {@code GroupCommit}, which collects
 * plants from concurrent callers into batches. {@code PlantTable} writes each batch with a single
 * statement. If Citus distributes the table across several servers, {@code Shards} forms separate
 * batches for each of these servers, which are called nodes.
 */
@NullMarked
package org.plantstore.adapter.persistence;

import org.jspecify.annotations.NullMarked;
