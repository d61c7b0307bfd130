package org.plantstore.adapter.http.observe;

import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a connection whose answers are due. Answers come in the order of the requests
 * (RFC 9112, section 9.3.2), and have their ids. One per connection, used by its event loop alone.
 */
public final class UnansweredExchanges {

  private final RequestMemory memory;
  private final Consumer<Exchange> ended;
  private final Deque<Exchange> exchanges = new ArrayDeque<>(2);
  private boolean answering;
  private boolean answersHead;

  /**
   * Makes the exchanges of a connection.
   *
   * @param memory what they take their memory from
   * @param ended what is told of every exchange when it has ended
   */
  public UnansweredExchanges(RequestMemory memory, Consumer<Exchange> ended) {
    this.memory = memory;
    this.ended = ended;
  }

  /**
   * Adds an exchange, whose head has just come.
   *
   * @param headBytes how much the head takes
   * @return whether there is memory for it
   */
  public boolean begin(HttpRequest request, long headBytes) {
    RequestMemory.Share share = memory.share();
    boolean isFirst = exchanges.isEmpty();
    exchanges.add(new Exchange(request, share));
    return isFirst ? share.growForHead(headBytes) : share.growForPipelined(headBytes);
  }

  /** Answers how many requests are not answered, the one that is being answered included. */
  public int count() {
    return exchanges.size();
  }

  /** Says whether the head of an answer was written, and its end was not. */
  public boolean isAnswering() {
    return answering;
  }

  /** Says whether the answer that was begun last has no body, because HEAD asked for it. */
  public boolean answersHead() {
    return answersHead;
  }

  /**
   * Answers the exchange whose request is being received, or was received last, or null if that was
   * answered already.
   */
  public @Nullable Exchange latest() {
    return exchanges.peekLast();
  }

  /** Begins an answer. It may belong to no request, and then says why the connection ends. */
  public void beginAnswer(HttpResponse response) {
    answering = true;
    Exchange exchange = exchanges.peek();
    answersHead = exchange != null && exchange.asksForHead();
    response
        .headers()
        .set(RequestId.HEADER, exchange == null ? RequestId.make() : exchange.requestId());
    if (exchange != null) {
      exchange.answer(response);
    }
  }

  /**
   * Goes on with an answer.
   *
   * @return the exchange that has ended with this part of its answer, or null
   */
  public @Nullable Exchange continueAnswer(HttpContent part) {
    boolean isEnd = part instanceof LastHttpContent;
    Exchange exchange = isEnd ? exchanges.poll() : exchanges.peek();
    if (exchange != null) {
      exchange.addAnsweredBytes(part.content().readableBytes());
    }
    if (!isEnd) {
      return null;
    }
    answering = false;
    if (exchange != null) {
      exchange.end(true);
      ended.accept(exchange);
    }
    return exchange;
  }

  /** Ends all exchanges, because nobody is answered any more. */
  public void endAll() {
    for (Exchange exchange; (exchange = exchanges.poll()) != null; ) {
      exchange.end(false);
      ended.accept(exchange);
    }
  }
}
