package org.plantstore.adapter.http;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpHeadersFactory;

/**
 * Takes the {@link RequestMemory} for the head of a connection's request, from its first bytes
 * until the request is answered: a client that never ends its head, or does not read its answers,
 * would otherwise hold many times what it has sent. Knows that a head has begun, which others see
 * only when it has ended. One per connection, used by its event loop alone.
 */
final class HeadMemory implements HttpHeadersFactory {

  /** About what is kept beside the characters of a header. */
  private static final int BYTES_PER_HEADER = 200;

  /** The decoder keeps no more of a head, nor is there a larger buffer that bytes come in. */
  private static final int MAX_LINES_BYTES = 64 * 1024;

  private final RequestMemory memory;
  private RequestMemory.Share share;
  private boolean begun;
  private boolean ended;
  private int linesBytes;

  HeadMemory(RequestMemory memory) {
    this.memory = memory;
    this.share = memory.share();
  }

  /** Called when the first line has been read. */
  @Override
  public HttpHeaders newHeaders() {
    begun = true;
    return new Counted();
  }

  @Override
  public HttpHeaders newEmptyHeaders() {
    return new Counted();
  }

  /** Says whether the first line of a request has been read, and not yet all of the request. */
  boolean isHeadBegun() {
    return begun;
  }

  /** Says that the head has been read as a whole. */
  void headEnded() {
    ended = true;
  }

  /**
   * Takes what the decoder keeps of a line that has no end yet.
   *
   * @param lineBytes how many bytes it takes more
   * @return whether there was so much, or none is needed because the head has ended
   */
  boolean takeLine(int lineBytes) {
    if (ended) {
      return true;
    }
    int more = Math.min(lineBytes, MAX_LINES_BYTES - linesBytes);
    linesBytes += more;
    return share.grow(more);
  }

  /** Answers what was taken, because the request is there as a whole, and begins with the next. */
  RequestMemory.Share handOver() {
    RequestMemory.Share taken = share;
    share = memory.share();
    linesBytes = 0;
    begun = false;
    ended = false;
    return taken;
  }

  /** Gives back what was taken: the request will never be there as a whole. */
  void giveBack() {
    handOver().giveBack();
  }

  /**
   * Takes what a further header needs.
   *
   * @throws RefusedException if there is not so much
   */
  private void take(CharSequence name, Object value) {
    int length = name.length() + (value instanceof CharSequence text ? text.length() : 0);
    if (!share.grow(BYTES_PER_HEADER + length)) {
      throw new RefusedException(ErrorNumber.OVERLOADED);
    }
  }

  private final class Counted extends DefaultHttpHeaders {

    @Override
    public HttpHeaders add(CharSequence name, Object value) {
      take(name, value);
      return super.add(name, value);
    }

    @Override
    public HttpHeaders add(String name, Object value) {
      take(name, value);
      return super.add(name, value);
    }
  }
}
