package org.plantstore.adapter.http.observe;

import io.micronaut.http.HttpRequest;
import io.micronaut.http.server.netty.NettyHttpRequest;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.AsciiString;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.slf4j.MDC;

/**
 * A decoded request that also records data about itself and its response for the metrics and the
 * access log. The URI of the request contains only the path, because the framework needs nothing
 * else for routing. Only the connection's event loop changes a record, with one exception: the
 * thread that prepares the response records the caller and the error.
 */
public final class RequestRecord extends DefaultHttpRequest {

  /** The header that contains the request id, both in requests and in responses. */
  public static final AsciiString REQUEST_ID = AsciiString.cached("X-Request-Id");

  /** Matches a request id that can be logged unchanged. */
  private static final Pattern WELL_FORMED_ID = Pattern.compile("[a-zA-Z0-9._-]{1,64}");

  /** Matches a {@code traceparent} header of any version (W3C Trace Context, section 3.2). */
  private static final Pattern TRACE_PARENT =
      Pattern.compile(
          "(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
              + "(-.*)?");

  private static final Pattern PATH =
      Pattern.compile("(?:[^/?#]+://[^/?#]*)?([^?#]*).*", Pattern.DOTALL);

  private final String path;
  private String requestId = "";
  private long beganNanos;
  private @Nullable HttpResponseStatus status;
  private String caller = "";
  private @Nullable ErrorNumber error;
  private long responseBytes;
  private boolean isResponseComplete;

  /**
   * Creates a request from its request line and headers. If the framework cannot parse a URI, it
   * replaces the request with another object, which records nothing. The URI is therefore reduced
   * to the path. The framework would interpret two slashes at the beginning of a path as the start
   * of an authority (RFC 3986, section 4.2), so a dot segment is inserted before them. No route
   * matches the resulting path.
   */
  public RequestRecord(HttpVersion version, HttpMethod method, String target, HttpHeaders headers) {
    super(version, method, target, headers);
    path = pathOf(target);
    setUri(path.isEmpty() ? "/" : path.startsWith("//") ? "/." + path : path);
  }

  private static String pathOf(String target) {
    boolean isPath = target.startsWith("/") && target.indexOf('?') < 0 && target.indexOf('#') < 0;
    return isPath ? target : PATH.matcher(target).replaceFirst("$1");
  }

  /**
   * Replaces the URI of a malformed request, because the framework might be unable to parse that
   * URI.
   */
  @Override
  public void setDecoderResult(DecoderResult result) {
    super.setDecoderResult(result);
    if (result.isFailure()) {
      setUri("/");
    }
  }

  /**
   * Chooses the request id, and starts measuring the duration. Called when all headers have been
   * received.
   */
  public void recordHeaders() {
    beganNanos = System.nanoTime();
    List<String> ids = headers().getAll(REQUEST_ID);
    boolean isUsable = ids.size() == 1 && WELL_FORMED_ID.matcher(ids.get(0)).matches();
    requestId = isUsable ? ids.get(0) : randomId();
  }

  private static String randomId() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(random.nextLong()) + hex.toHexDigits(random.nextLong());
  }

  /** Returns the record of a request that the framework is processing. */
  public static RequestRecord of(HttpRequest<?> request) {
    return (RequestRecord) ((NettyHttpRequest<?>) request).getNativeRequest();
  }

  /** Returns the event loop of the request's connection. */
  public static ScheduledExecutorService eventLoopOf(HttpRequest<?> request) {
    return ((NettyHttpRequest<?>) request).getChannelHandlerContext().executor();
  }

  /** Runs a task with the request id and, if known, the trace id as the only entries in the MDC. */
  public void runWithIds(Runnable task) {
    List<String> parents = headers().getAll("traceparent");
    Matcher parent = TRACE_PARENT.matcher(parents.size() == 1 ? parents.get(0) : "");
    Map<String, String> outer = MDC.getCopyOfContextMap();
    MDC.setContextMap(
        parent.matches()
            ? Map.of("request_id", requestId, "trace_id", parent.group(1))
            : Map.of("request_id", requestId));
    try {
      task.run();
    } finally {
      MDC.setContextMap(outer == null ? Map.of() : outer);
    }
  }

  /** Records the name of the caller. */
  public void recordCaller(String name) {
    caller = name;
  }

  /** Records the error that the response reports. */
  public void recordError(ErrorNumber number) {
    error = number;
  }

  /**
   * Records the response status if the given part of the response contains it, and adds the size of
   * the part's content to the size of the response. Called before each part of a response is
   * written.
   */
  public void recordResponse(Object part) {
    if (part instanceof HttpResponse response) {
      status = response.status();
    }
    if (part instanceof HttpContent content) {
      responseBytes += content.content().readableBytes();
      isResponseComplete = content instanceof LastHttpContent;
    }
  }

  /**
   * Returns the id that the client sent, or a random id if the client did not send exactly one
   * well-formed id.
   */
  public String requestId() {
    return requestId;
  }

  /** Returns the path from the request target, without the query. The path may be malformed. */
  public String path() {
    return path;
  }

  /** Returns the caller's name from the token, or an empty string if no name has been recorded. */
  String caller() {
    return caller;
  }

  boolean isResponseComplete() {
    return isResponseComplete;
  }

  @Nullable HttpResponseStatus status() {
    return status;
  }

  @Nullable ErrorNumber error() {
    return isResponseComplete ? error : null;
  }

  long responseBytes() {
    return responseBytes;
  }

  /** Returns the time since the headers of the request were received. */
  Duration age() {
    return Duration.ofNanos(System.nanoTime() - beganNanos);
  }
}
