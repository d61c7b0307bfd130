package org.plantstore.adapter.http;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpHeadersFactory;

/**
 * Takes the {@link BodyMemory} for the headers of a connection's request, from the first one until
 * the request is there as a whole: a client that never ends its head would otherwise hold many
 * times what it has sent. One per connection, used by its event loop alone.
 */
final class HeaderMemory implements HttpHeadersFactory {

  /** Headers of usual size take none: they get through whatever others do. */
  private static final int FREE_BYTES = 4 * 1024;

  /** About what is kept beside the characters of a header. */
  private static final int BYTES_PER_HEADER = 200;

  private final BodyMemory memory;
  private long bytes;
  private long taken;

  HeaderMemory(BodyMemory memory) {
    this.memory = memory;
  }

  @Override
  public HttpHeaders newHeaders() {
    return new Counted();
  }

  @Override
  public HttpHeaders newEmptyHeaders() {
    return new Counted();
  }

  /** Gives back what was taken: the request is there as a whole, or never will be. */
  void giveBack() {
    memory.giveBack(taken);
    bytes = 0;
    taken = 0;
  }

  /**
   * Takes what a further header needs.
   *
   * @throws RefusedException if there is not so much
   */
  private void take(CharSequence name, Object value) {
    bytes +=
        BYTES_PER_HEADER + name.length() + (value instanceof CharSequence text ? text.length() : 0);
    long needed = bytes - FREE_BYTES - taken;
    if (needed > 0) {
      if (!memory.take(needed, taken)) {
        throw new RefusedException(ErrorNumber.OVERLOADED);
      }
      taken += needed;
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
