/**
 * Group commit: collects the plants of concurrent callers into batches. Knows deadlines, retries
 * and the limits of a batch, but neither SQL nor connections.
 */
@NullMarked
package org.plantstore.adapter.persistence.batch;

import org.jspecify.annotations.NullMarked;
