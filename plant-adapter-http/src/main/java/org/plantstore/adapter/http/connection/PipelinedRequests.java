package org.plantstore.adapter.http.connection;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * Passes one request at a time on: those that a client sends ahead of an answer (RFC 9112, section
 * 9.3.2) wait until that is written, and nothing more is read meanwhile. One per connection, behind
 * the decoder; used by its event loop alone.
 */
final class PipelinedRequests extends ChannelDuplexHandler {

  private final Queue<Object> waiting = new ArrayDeque<>(1);
  private boolean isUnanswered;
  private boolean isReadWanted;

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    waiting.add(message);
    if (waiting.size() == 1) {
      passWaiting(context);
    }
  }

  /** Passes on what has come, up to the head of a request that must wait. */
  private void passWaiting(ChannelHandlerContext context) {
    while (!waiting.isEmpty() && !(isUnanswered && waiting.element() instanceof HttpRequest)) {
      Object next = waiting.remove();
      isUnanswered |= next instanceof HttpRequest;
      context.fireChannelRead(next);
    }
  }

  @Override
  public void read(ChannelHandlerContext context) {
    isReadWanted = !waiting.isEmpty();
    if (!isReadWanted) {
      context.read();
    }
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    boolean isInformational =
        message instanceof HttpResponse response
            && response.status().codeClass() == HttpStatusClass.INFORMATIONAL;
    if (message instanceof LastHttpContent && !isInformational) {
      isUnanswered = false;
      if (!waiting.isEmpty()) {
        context.executor().execute(() -> resume(context));
      }
    }
    context.write(message, promise);
  }

  private void resume(ChannelHandlerContext context) {
    passWaiting(context);
    context.fireChannelReadComplete();
    if (isReadWanted) {
      read(context);
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    waiting.forEach(ReferenceCountUtil::release);
    waiting.clear();
  }
}
