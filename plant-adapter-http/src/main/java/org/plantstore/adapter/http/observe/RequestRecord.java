package org.plantstore.adapter.http.observe;

import io.micronaut.http.HttpRequest;
import io.micronaut.http.server.netty.NettyHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.AsciiString;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;

/**
 * What is recorded about a request and its response for the metrics and the log. Changed by the
 * event loop of the connection, except that the thread that prepares the response records the
 * caller and an error.
 */
public final class RequestRecord {

  /** The header with which a response names its request. */
  public static final AsciiString REQUEST_ID = RequestIds.HEADER;

  /** A Netty request that has a record. */
  public interface Recorded {
    RequestRecord record();
  }

  private final HttpMethod method;
  private final String path;
  private final RequestIds ids;
  private final long beganNanos = System.nanoTime();
  private @Nullable HttpResponseStatus status;
  private String caller = "";
  private @Nullable ErrorNumber error;
  private long answeredBytes;
  private boolean isAnswered;

  /** Creates the record of a request whose head has just been read. */
  public RequestRecord(HttpMethod method, String path, HttpHeaders headers) {
    this.method = method;
    this.path = path;
    this.ids = RequestIds.of(headers);
  }

  /** Returns the record of the framework's request. */
  public static RequestRecord of(HttpRequest<?> request) {
    return ((Recorded) ((NettyHttpRequest<?>) request).getNativeRequest()).record();
  }

  /** Returns the event loop of the request's connection. */
  public static ScheduledExecutorService eventLoopOf(HttpRequest<?> request) {
    return ((NettyHttpRequest<?>) request).getChannelHandlerContext().executor();
  }

  /** Runs work; log lines of this thread meanwhile carry the request id and the trace id. */
  public void runWithIds(Runnable work) {
    ids.run(work);
  }

  /** Records who has sent the request. */
  public void recordCaller(String name) {
    caller = name;
  }

  /** Records the error with which the service responds. */
  public void recordError(ErrorNumber number) {
    error = number;
  }

  /** Records a part of the response that is being written. */
  public void recordAnswer(Object part) {
    if (part instanceof HttpResponse head) {
      status = head.status();
    }
    if (part instanceof HttpContent content) {
      answeredBytes += content.content().readableBytes();
      isAnswered = content instanceof LastHttpContent;
    }
  }

  public String requestId() {
    return ids.requestId();
  }

  /** Returns the path of the request's target, without its query; it may be malformed. */
  public String path() {
    return path;
  }

  HttpMethod method() {
    return method;
  }

  /** Returns the name in the token, or an empty text if there is none. */
  String caller() {
    return caller;
  }

  boolean isAnswered() {
    return isAnswered;
  }

  @Nullable HttpResponseStatus status() {
    return status;
  }

  @Nullable ErrorNumber error() {
    return isAnswered ? error : null;
  }

  long answeredBytes() {
    return answeredBytes;
  }

  /** Returns the time since the head of the request was read. */
  Duration age() {
    return Duration.ofNanos(System.nanoTime() - beganNanos);
  }
}
