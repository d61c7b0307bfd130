package org.plantstore.adapter.http.observe;

import jakarta.inject.Singleton;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory that all requests may take together, until they are answered. Without a bound, a body
 * of the largest size on every connection would take more than there is. Safe for use by many
 * threads.
 */
@Singleton
public final class RequestMemory {

  /**
   * As a body, as text, in a batch for the database and as an answer a plant takes up to four times
   * its bytes, and the service itself needs a third of a small heap.
   */
  private static final int SHARE_OF_HEAP = 8;

  /** What a request may have of its own: one of usual size gets through whatever large ones do. */
  private static final int FREE_BYTES = 4 * 1024;

  /** The same for its head, with a token of any usual size. */
  private static final int FREE_HEAD_BYTES = 16 * 1024;

  /** About what a request and its answer take without a body. */
  private static final int BYTES_PER_PIPELINED = 2 * 1024;

  private final long limitBytes = Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP;
  private final AtomicLong takenBytes = new AtomicLong();

  /**
   * Takes memory, unless others have taken so much that there is none left.
   *
   * @param bytes how much more is needed
   * @param before how much the same request has taken before; one alone may take any amount
   * @return whether it was taken
   */
  public boolean take(long bytes, long before) {
    long sum = takenBytes.addAndGet(bytes);
    if (sum <= limitBytes || sum == before + bytes) {
      return true;
    }
    takenBytes.addAndGet(-bytes);
    return false;
  }

  /** Gives back what was taken. */
  public void giveBack(long bytes) {
    takenBytes.addAndGet(-bytes);
  }

  /** Answers a share that has taken nothing yet. */
  public Share share() {
    return new Share();
  }

  /** What one request takes. For use by one thread. */
  public final class Share {

    private long bytes;
    private long sharedBytes;
    private boolean refused;

    /**
     * Takes what more bytes need.
     *
     * @return false, once, if there is not so much: nothing is kept of what comes after that
     */
    public boolean grow(long moreBytes) {
      if (refused) {
        return true;
      }
      bytes += moreBytes;
      long needed = bytes - FREE_BYTES - sharedBytes;
      if (needed > 0) {
        refused = !take(needed, sharedBytes);
        sharedBytes += refused ? 0 : needed;
      }
      return !refused;
    }

    /**
     * Takes what the head of a request needs.
     *
     * @return whether there was so much
     */
    public boolean growForHead(long headBytes) {
      return grow(Math.max(headBytes - FREE_HEAD_BYTES, 0));
    }

    /**
     * Takes what the head of a pipelined request needs, which is sent before the last one is
     * answered. A client may send many of these, so none has anything free.
     *
     * @return whether there was so much
     */
    public boolean growForPipelined(long headBytes) {
      return grow(FREE_BYTES + BYTES_PER_PIPELINED + headBytes);
    }

    /** Answers how much is taken of what the request has of its own. */
    public long ownBytes() {
      return Math.min(bytes, FREE_BYTES);
    }

    /** Says whether anything would be given back. */
    public boolean isTaken() {
      return sharedBytes > 0;
    }

    /** Gives back what is not needed any more. */
    public void shrinkTo(long neededBytes) {
      long needed = Math.min(Math.max(neededBytes - FREE_BYTES, 0), sharedBytes);
      if (needed < sharedBytes) {
        RequestMemory.this.giveBack(sharedBytes - needed);
        sharedBytes = needed;
      }
      bytes = neededBytes;
    }
  }
}
