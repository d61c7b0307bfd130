/**
 * The connections to PostgreSQL: address, time-outs, pool, fail-over, readiness, and what a failure
 * means. Knows nothing of plants and none of their statements.
 */
@NullMarked
package org.plantstore.adapter.persistence.database;

import org.jspecify.annotations.NullMarked;
