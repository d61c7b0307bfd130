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
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Follows the requests of a connection to their answers, which come in the same order (RFC 9112,
 * section 9.3.2), and gives both the same id. Next to the codec, so that it sees every answer,
 * whoever makes it. One per connection, used by its event loop alone.
 */
@SuppressWarnings("FutureReturnValueIgnored") // whoever writes has the promise
final class ExchangeHandler extends ChannelDuplexHandler {

  private final Consumer<Exchange> ended;
  private final BooleanSupplier isEnding;
  private final Queue<Exchange> unanswered = new ArrayDeque<>(2);

  /** Whether the head of an answer was written, and its end was not. */
  private boolean answering;

  /**
   * Makes a handler.
   *
   * @param ended what is told of every exchange when it has ended
   * @param isEnding whether requests that still come are not looked at
   */
  ExchangeHandler(Consumer<Exchange> ended, BooleanSupplier isEnding) {
    this.ended = ended;
    this.isEnding = isEnding;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof HttpRequest request && !isEnding.getAsBoolean()) {
      unanswered.add(new Exchange(request));
    }
    context.fireChannelRead(message);
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    Exchange exchange = unanswered.peek();
    if (message instanceof HttpResponse response
        && response.status().codeClass() != HttpStatusClass.INFORMATIONAL) {
      answering = true;
      begin(exchange, response);
    }
    boolean isEnd = answering && message instanceof LastHttpContent;
    if (answering && exchange != null && message instanceof HttpContent content) {
      exchange.addAnsweredBytes(content.content().readableBytes());
    }
    context.write(message, promise);
    if (isEnd) {
      answering = false;
      end(unanswered.poll(), true);
    }
  }

  /** Nobody may have asked for the answer: a connection is told why it ends. */
  private static void begin(@Nullable Exchange exchange, HttpResponse response) {
    response
        .headers()
        .set(RequestId.HEADER, exchange == null ? RequestId.make() : exchange.requestId());
    if (exchange != null) {
      exchange.answer(response);
    }
  }

  private void end(@Nullable Exchange exchange, boolean wasAnswered) {
    if (exchange != null) {
      exchange.end(wasAnswered);
      ended.accept(exchange);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    while (!unanswered.isEmpty()) {
      end(unanswered.poll(), false);
    }
    context.fireChannelInactive();
  }
}
