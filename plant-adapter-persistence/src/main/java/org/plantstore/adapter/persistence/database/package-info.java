/**
 * Connections to PostgreSQL: address, time-outs, pool, fail-over, readiness, and the meaning of
 * failures. Independent of plants and their statements.
 */
@NullMarked
package org.plantstore.adapter.persistence.database;

import org.jspecify.annotations.NullMarked;
