package org.plantstore.adapter.http;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpHeadersFactory;

/**
 * Takes the {@link RequestMemory} for the headers of a connection's request, from the first one
 * until the request is there as a whole: a client that never ends its head would otherwise hold
 * many times what it has sent. Tells the {@link ConnectionDeadline} that a head has begun, which
 * others see only when it has ended. One per connection, used by its event loop alone.
 */
final class HeaderMemory implements HttpHeadersFactory {

  /** About what is kept beside the characters of a header. */
  private static final int BYTES_PER_HEADER = 200;

  private final RequestMemory.Share share;
  private final ConnectionDeadline deadline;

  HeaderMemory(RequestMemory memory, ConnectionDeadline deadline) {
    this.share = memory.share();
    this.deadline = deadline;
  }

  /** Called when the first line has been read. */
  @Override
  public HttpHeaders newHeaders() {
    deadline.requestBegun();
    return new Counted();
  }

  @Override
  public HttpHeaders newEmptyHeaders() {
    return new Counted();
  }

  /** Gives back what was taken: the request is there as a whole, or never will be. */
  void giveBack() {
    share.giveBack();
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
