package org.plantstore.adapter.persistence.batch;

import java.util.concurrent.Semaphore;

/** What the lanes of a store share. */
public record Permits(Semaphore spares, Semaphore turns) {

  public Permits() {
    this(
        new Semaphore(GroupCommit.WRITERS - 1),
        new Semaphore(Integer.getInteger("turns", 2), true));
  }
}
