package org.plantstore.adapter.http.connection;

import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.util.AsciiString;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.plantstore.adapter.http.observe.Exchange;
import org.plantstore.adapter.http.observe.RequestId;

/**
 * The requests of a connection that are not answered, with the memory of their bodies. Answers come
 * in the order of the requests (RFC 9112, section 9.3.2). One per connection, used by its event
 * loop alone.
 */
final class UnansweredRequests {

  private static final AsciiString CONTENT_TYPE_OPTIONS =
      AsciiString.cached("x-content-type-options");
  private static final AsciiString NOSNIFF = AsciiString.cached("nosniff");

  private record Unanswered(Exchange exchange, BodyBudget.Share body) {}

  private final BodyBudget bodies;
  private final Consumer<Exchange> ended;
  private final Deque<Unanswered> requests = new ArrayDeque<>(2);
  private boolean isAnswering;

  /**
   * Creates the requests of a connection, of which there are none yet.
   *
   * @param bodies what the bodies take their memory from
   * @param ended what is given each exchange when it has ended
   */
  UnansweredRequests(BodyBudget bodies, Consumer<Exchange> ended) {
    this.bodies = bodies;
    this.ended = ended;
  }

  /** Adds a request whose head has come. */
  void add(Exchange exchange) {
    exchange.begin();
    requests.add(new Unanswered(exchange, bodies.share()));
  }

  boolean isEmpty() {
    return requests.isEmpty();
  }

  /**
   * Returns whether the request that came last is the next to be answered, or is being answered.
   */
  boolean isAtLast() {
    return requests.size() == 1;
  }

  /** Returns whether the head of an answer was written, and its end was not. */
  boolean isAnswering() {
    return isAnswering;
  }

  /** Returns the request that is being answered, or the next one. */
  Exchange first() {
    return requests.getFirst().exchange();
  }

  /** Returns the request that came last. */
  Exchange last() {
    return requests.getLast().exchange();
  }

  /** Takes memory for a part of the body that came last, and returns whether there was as much. */
  boolean take(int bytes) {
    return requests.getLast().body().take(bytes);
  }

  /** Begins the answer to the first request. It is for no cache, and is what its type says. */
  void beginAnswer(HttpResponse response) {
    isAnswering = true;
    first().answer(response.status());
    HttpHeaders headers = response.headers();
    headers.set(RequestId.HEADER, first().requestId()).set(CONTENT_TYPE_OPTIONS, NOSNIFF);
    if (!headers.contains(HttpHeaderNames.CACHE_CONTROL)) {
      headers.set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE);
    }
  }

  /** Goes on with the answer to the first request. */
  void continueAnswer(HttpContent part) {
    first().addAnsweredBytes(part.content().readableBytes());
  }

  /**
   * Ends the answer to the first request, and removes the request.
   *
   * @param written what says that the end of the answer is written
   * @return the same, or another one that is to be used instead
   */
  ChannelPromise endAnswer(ChannelPromise written) {
    isAnswering = false;
    Unanswered answered = requests.remove();
    end(answered, true);
    return answered.body().isTaken()
        ? written.unvoid().addListener(future -> answered.body().release())
        : written;
  }

  /** Removes all requests, because nobody is answered any more. */
  void endAll() {
    for (Unanswered each : requests) {
      end(each, false);
      each.body().release();
    }
    requests.clear();
  }

  private void end(Unanswered request, boolean wasAnswered) {
    request.exchange().end(wasAnswered);
    ended.accept(request.exchange());
  }
}
