/**
 * Group commit: collects the plants of concurrent callers into batches, and hands each batch to a
 * writer. Knows deadlines, retries and limits of a batch, but neither SQL nor connections: what
 * writes a batch is given to it.
 */
@NullMarked
package org.plantstore.adapter.persistence.batch;

import org.jspecify.annotations.NullMarked;
