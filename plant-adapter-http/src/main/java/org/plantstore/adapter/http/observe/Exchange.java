package org.plantstore.adapter.http.observe;

import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.util.AsciiString;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorLink;
import org.plantstore.adapter.http.error.ErrorNumber;

/** A request and its answer. Used by the event loop of its connection alone. */
public final class Exchange {

  private static final AsciiString LINK = AsciiString.cached("link");

  /** What Netty makes up. */
  private static final String TARGET_OF_UNREADABLE = "/bad-request";

  private final HttpRequest request;
  private final String requestId;
  private final String target;
  private final RequestMemory.Share memory;
  private final long began = System.nanoTime();
  private @Nullable HttpResponseStatus status;
  private @Nullable ErrorNumber error;
  private long answeredBytes;
  private boolean answered;
  private long nanos;

  /**
   * Begins an exchange, and gives its request its id as the one header of that name.
   *
   * @param request the head of the request
   * @param memory what the request takes its memory from
   */
  public Exchange(HttpRequest request, RequestMemory.Share memory) {
    this.request = request;
    this.memory = memory;
    // Kept, because what the framework must not meet is replaced later.
    this.target = request.uri();
    this.requestId = RequestId.of(request.headers());
    request.headers().set(RequestId.HEADER, requestId);
  }

  /** Notes the head of the answer. */
  public void answer(HttpResponse response) {
    status = response.status();
    if (status.codeClass() != HttpStatusClass.SUCCESS) {
      error = ErrorLink.linked(response.headers().get(LINK));
    }
  }

  public void addAnsweredBytes(int bytes) {
    answeredBytes += bytes;
  }

  /**
   * Ends the exchange, of which no more than the answer is kept.
   *
   * @param wasAnswered whether all of the answer was written
   */
  public void end(boolean wasAnswered) {
    nanos = System.nanoTime() - began;
    answered = wasAnswered;
    memory.shrinkTo(wasAnswered ? answeredBytes : 0);
  }

  /** Answers what the request takes its memory from. */
  public RequestMemory.Share memory() {
    return memory;
  }

  public String requestId() {
    return requestId;
  }

  /** Answers the id of the trace that the request belongs to, or null if it names none. */
  public @Nullable String traceId() {
    return TraceParent.traceIdOf(request.headers().getAll(TraceParent.HEADER));
  }

  /** Says whether the first line could be read; if not, its method and its target are made up. */
  public boolean isReadable() {
    return request.decoderResult().isSuccess() || !target.equals(TARGET_OF_UNREADABLE);
  }

  public boolean asksForHead() {
    return request.method().equals(HttpMethod.HEAD);
  }

  public String method() {
    return request.method().name();
  }

  /** Answers the target as it was sent. */
  public String target() {
    return target;
  }

  /** Answers how the exchange ended. */
  public Outcome outcome() {
    if (!answered || status == null) {
      return Outcome.UNANSWERED;
    }
    return switch (status.codeClass()) {
      case CLIENT_ERROR -> Outcome.REFUSED;
      case SERVER_ERROR -> Outcome.FAILED;
      default -> request.method().equals(HttpMethod.POST) ? Outcome.CREATED : Outcome.SERVED;
    };
  }

  /** Answers the status of the answer, or null if there was none. */
  public @Nullable Integer status() {
    return status == null ? null : status.code();
  }

  /** Answers the error that was answered, or null if there was none. */
  public @Nullable ErrorNumber error() {
    return error;
  }

  /** Answers how many bytes the body of the answer had. */
  public long answeredBytes() {
    return answeredBytes;
  }

  /** Answers how long it took from the head of the request to the end of the answer. */
  public Duration duration() {
    return Duration.ofNanos(nanos);
  }
}
