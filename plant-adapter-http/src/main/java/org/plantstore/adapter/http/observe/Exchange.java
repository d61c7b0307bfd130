package org.plantstore.adapter.http.observe;

import io.micronaut.http.HttpRequest;
import io.micronaut.http.server.netty.NettyHttpRequest;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.AsciiString;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;

/**
 * A request and its answer, as in the JDK's {@code HttpExchange}. Used by the event loop of its
 * connection, and meanwhile by the one thread that works on the answer.
 */
public final class Exchange extends DefaultHttpRequest {

  private static final AsciiString TYPE_OPTIONS = AsciiString.cached("x-content-type-options");
  private static final AsciiString NOSNIFF = AsciiString.cached("nosniff");
  private static final Pattern PATH =
      Pattern.compile("(?:[^/?#]+://[^/?#]*)?([^?#]*).*", Pattern.DOTALL);

  /**
   * The end of an exchange: a stored plant, a document, an error of the client, an error of the
   * service, or the end of the connection before the answer.
   */
  enum Outcome {
    CREATED,
    SERVED,
    REFUSED,
    FAILED,
    UNANSWERED
  }

  private long beganNanos;
  private Duration duration = Duration.ZERO;
  private String requestId = "";
  private @Nullable HttpResponseStatus status;
  private @Nullable ErrorNumber error;
  private long answeredBytes;
  private Outcome outcome = Outcome.UNANSWERED;

  /** Creates an exchange from the first line of its request. */
  public Exchange(HttpVersion version, HttpMethod method, String target, HttpHeaders headers) {
    super(version, method, target, headers);
  }

  /** Returns the exchange of the framework's request, or null if it did not come over HTTP. */
  public static @Nullable Exchange of(HttpRequest<?> request) {
    return request instanceof NettyHttpRequest<?> netty
            && netty.getNativeRequest() instanceof Exchange exchange
        ? exchange
        : null;
  }

  /** Returns the event loop of the request's connection. */
  public static Executor eventLoopOf(HttpRequest<?> request) {
    return ((NettyHttpRequest<?>) request).getChannelHandlerContext().executor();
  }

  /** Runs work for a request; each line that it logs from this thread has the request's ids. */
  public static <T> T supplyWithIds(HttpRequest<?> request, Supplier<T> work) {
    Exchange exchange = of(request);
    return exchange == null ? work.get() : DiagnosticContext.supply(exchange, work);
  }

  /** Begins the exchange when the head of its request has been read. */
  public void begin() {
    beganNanos = System.nanoTime();
    requestId = DiagnosticContext.requestIdOf(headers());
  }

  /** Sets the error that is the answer. */
  public void fail(ErrorNumber number) {
    error = number;
  }

  /** Sets the status, and the headers that all answers have. */
  public void answer(HttpResponse response) {
    status = response.status();
    HttpHeaders headers = response.headers();
    headers.set(DiagnosticContext.REQUEST_ID_HEADER, requestId).set(TYPE_OPTIONS, NOSNIFF);
    if (!headers.contains(HttpHeaderNames.CACHE_CONTROL)) {
      headers.set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE);
    }
  }

  /** Counts a part of the answer's body. */
  public void addAnsweredBytes(int bytes) {
    answeredBytes += bytes;
  }

  /** Ends the exchange, with its answer or without. */
  public void end(boolean isAnswered) {
    duration = Duration.ofNanos(System.nanoTime() - beganNanos);
    if (isAnswered && status != null) {
      outcome =
          switch (status.codeClass()) {
            case CLIENT_ERROR -> Outcome.REFUSED;
            case SERVER_ERROR -> Outcome.FAILED;
            default -> method().equals(HttpMethod.POST) ? Outcome.CREATED : Outcome.SERVED;
          };
    }
  }

  /** Returns the path of the target (RFC 9112, section 3.2), which may be no URI. */
  public String path() {
    return PATH.matcher(uri()).replaceFirst("$1");
  }

  String requestId() {
    return requestId;
  }

  Outcome outcome() {
    return outcome;
  }

  @Nullable HttpResponseStatus status() {
    return status;
  }

  @Nullable ErrorNumber error() {
    return outcome == Outcome.UNANSWERED ? null : error;
  }

  long answeredBytes() {
    return answeredBytes;
  }

  /** Returns the time from the head of the request to the end of the answer. */
  Duration duration() {
    return duration;
  }
}
