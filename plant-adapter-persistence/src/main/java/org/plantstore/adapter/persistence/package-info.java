/**
 * Keeps plants in PostgreSQL 14 or later: the store, its table, its metrics and its settings. How
 * callers share a commit is in {@code batch}, how connections are opened and lost in {@code
 * database}, its requirements on the database in {@code requirement}, and all that is only for
 * distributed tables in {@code citus}.
 */
@NullMarked
package org.plantstore.adapter.persistence;

import org.jspecify.annotations.NullMarked;
