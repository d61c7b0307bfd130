package org.plantstore.adapter.http;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;

/**
 * The permit of a create in progress, and the executor of its calls that block. It is given back
 * when the create has ended and none of its calls holds a thread. Safe for use by many threads.
 */
final class CreatePermit implements Executor {

  private final Executor executor;
  private final Semaphore permits;
  private final LostPermits lost;
  private final Set<Thread> threads = new HashSet<>(2);
  private boolean isEnded;
  private boolean isLost;

  /** Creates an acquired permit, which is counted as lost while threads keep it after its end. */
  CreatePermit(Executor executor, Semaphore permits, LostPermits lost) {
    this.executor = executor;
    this.permits = permits;
    this.lost = lost;
  }

  @Override
  public void execute(Runnable work) {
    executor.execute(() -> {
      if (begin()) {
        try {
          work.run();
        } finally {
          leave();
        }
      }
    });
  }

  private synchronized boolean begin() {
    return !isEnded && threads.add(Thread.currentThread());
  }

  private synchronized void leave() {
    threads.remove(Thread.currentThread());
    Thread.interrupted(); // the thread is used again
    if (isEnded && threads.isEmpty()) {
      permits.release();
      if (isLost) {
        lost.remove();
      }
    }
  }

  /** Ends the create, which has been answered. */
  synchronized void end() {
    isEnded = true;
    if (threads.isEmpty()) {
      permits.release();
    }
  }

  /** Ends the create at its deadline: interrupts its threads. */
  synchronized void expire() {
    end();
    if (!threads.isEmpty()) {
      isLost = true;
      lost.add();
      threads.forEach(Thread::interrupt);
    }
  }
}
