/**
 * Plants in a table that Citus distributes to other servers. Reached only by the factory of the
 * store's queue, so that nothing else has to know of shards, and nothing here is loaded where the
 * database has no Citus.
 */
@NullMarked
package org.plantstore.adapter.persistence.citus;

import org.jspecify.annotations.NullMarked;
