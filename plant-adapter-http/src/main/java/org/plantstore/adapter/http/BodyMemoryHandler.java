package org.plantstore.adapter.http;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Takes the {@link BodyMemory} for the bodies of a connection, and refuses those for which there is
 * none left. What is refused is still read, so that the client reads its answer, and dropped. One
 * per connection, used by its event loop alone.
 */
@SuppressWarnings(
    "FutureReturnValueIgnored") // Netty reports what fails on a connection by closing it
final class BodyMemoryHandler extends ChannelDuplexHandler {

  /** A body of usual size takes none: it gets through whatever large ones do. */
  private static final int FREE_BYTES = 4 * 1024;

  /** About what is kept beside the bytes of a part, of which a body may have as many as bytes. */
  private static final int BYTES_PER_PART = 256;

  private final BodyMemory memory;
  private final Queue<Body> unanswered = new ArrayDeque<>(2);
  private @Nullable Body incoming;
  private boolean answering;

  BodyMemoryHandler(BodyMemory memory) {
    this.memory = memory;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof HttpRequest) {
      incoming = new Body();
      unanswered.add(incoming);
    }
    if (message instanceof HttpContent content && incoming != null && !incoming.grow(content)) {
      context.fireExceptionCaught(new RefusedException(ErrorNumber.OVERLOADED));
    }
    context.fireChannelRead(message);
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    if (message instanceof HttpResponse response
        && response.status().codeClass() != HttpStatusClass.INFORMATIONAL) {
      answering = true;
    }
    ChannelPromise written = promise;
    if (answering && message instanceof LastHttpContent) {
      answering = false;
      Body answered = unanswered.poll();
      if (answered != null && answered.stop() > 0) {
        written = promise.unvoid().addListener(future -> memory.giveBack(answered.taken));
      }
    }
    context.write(message, written);
  }

  /** Nobody is answered any more. */
  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    unanswered.forEach(body -> memory.giveBack(body.stop()));
    unanswered.clear();
  }

  private final class Body {

    private long bytes;
    private long taken;
    private boolean stopped;

    /** Takes what a further part needs; answers false once, if there is not so much. */
    boolean grow(HttpContent part) {
      int readable = part.content().readableBytes();
      if (stopped || readable == 0) {
        return true;
      }
      bytes += readable + BYTES_PER_PART;
      long needed = bytes - FREE_BYTES - taken;
      if (needed <= 0) {
        return true;
      }
      if (!memory.take(needed, taken)) {
        stopped = true;
        return false;
      }
      taken += needed;
      return true;
    }

    /** Takes no more, because what still comes is dropped; answers what was taken. */
    long stop() {
      stopped = true;
      return taken;
    }
  }
}
