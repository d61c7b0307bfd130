package org.plantstore.adapter.persistence.batch;

import java.util.concurrent.Semaphore;

/**
 * What the lanes of a store share. Safe for use by many threads.
 *
 * @param spares for each batch that is written beside another one of its lane, so that a lane that
 *     waits does not take the connections of all
 * @param turns for each batch that is begun: while a lane waits for its turn, its batch grows
 */
public record Permits(Semaphore spares, Semaphore turns) {

  /** Creates permits for as many batches beside others as a single lane may write. */
  public Permits() {
    this(new Semaphore(GroupCommit.WRITERS - 1), new Semaphore(1, true));
  }
}
