package org.plantstore.adapter.http.observe;

import static java.util.Objects.requireNonNull;

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
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.slf4j.MDC;

/**
 * A request and its answer, as in the JDK's {@code HttpExchange}. Changed by the event loop of its
 * connection, then by the one thread that prepares the answer.
 */
public final class Exchange extends DefaultHttpRequest {

  private static final AsciiString REQUEST_ID = AsciiString.cached("X-Request-Id");
  private static final AsciiString TYPE_OPTIONS = AsciiString.cached("x-content-type-options");
  private static final AsciiString NOSNIFF = AsciiString.cached("nosniff");

  /** Safe to be written to the log unchanged. */
  private static final Pattern WELL_FORMED_ID = Pattern.compile("[a-zA-Z0-9._-]{1,64}");

  /** W3C Trace Context, section 3.2: version, trace id, parent id, flags, and later additions. */
  private static final Pattern TRACE_PARENT =
      Pattern.compile(
          "(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
              + "(-.*)?");

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
  private String requestId = "";
  private @Nullable HttpResponseStatus status;
  private @Nullable ErrorNumber error;
  private long answeredBytes;
  private Outcome outcome = Outcome.UNANSWERED;

  /** Creates an exchange from the first line of its request. */
  public Exchange(HttpVersion version, HttpMethod method, String target, HttpHeaders headers) {
    super(version, method, target, headers);
  }

  /** Returns the exchange of the framework's request. */
  public static Exchange of(HttpRequest<?> request) {
    return (Exchange) ((NettyHttpRequest<?>) request).getNativeRequest();
  }

  /** Returns the event loop of the request's connection. */
  public static ScheduledExecutorService eventLoopOf(HttpRequest<?> request) {
    return ((NettyHttpRequest<?>) request).getChannelHandlerContext().executor();
  }

  /** Runs work; log lines of this thread meanwhile carry the request id and the trace id. */
  public void runWithIds(Runnable work) {
    List<String> parents = headers().getAll("traceparent");
    Matcher parent = TRACE_PARENT.matcher(parents.size() == 1 ? parents.get(0) : "");
    MDC.put("request_id", requestId);
    if (parent.matches()) {
      MDC.put("trace_id", parent.group(1));
    }
    try {
      work.run();
    } finally {
      MDC.remove("request_id");
      MDC.remove("trace_id");
    }
  }

  /** Begins the exchange when the head of its request has been read. */
  public void begin() {
    beganNanos = System.nanoTime();
    List<String> sent = headers().getAll(REQUEST_ID);
    boolean isUsable = sent.size() == 1 && WELL_FORMED_ID.matcher(sent.get(0)).matches();
    requestId = isUsable ? sent.get(0) : randomId();
    // Each path has one media type. With another type in Accept, the framework would find no route,
    // and answer with 401.
    headers().remove(HttpHeaderNames.ACCEPT);
  }

  private static String randomId() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(random.nextLong()) + hex.toHexDigits(random.nextLong());
  }

  /** Records the error that is the answer. */
  public void recordError(ErrorNumber number) {
    error = number;
  }

  /** Records the status, and sets the headers that all answers have. */
  public void recordAnswer(HttpResponse response) {
    status = response.status();
    HttpHeaders headers = response.headers();
    headers.set(REQUEST_ID, requestId).set(TYPE_OPTIONS, NOSNIFF);
    if (!headers.contains(HttpHeaderNames.CACHE_CONTROL)) {
      headers.set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE);
    }
  }

  /** Counts a part of the answer's body. */
  public void addAnsweredBytes(int bytes) {
    answeredBytes += bytes;
  }

  /** Ends the exchange when the last part of the answer is written. */
  public void end() {
    outcome =
        switch (requireNonNull(status).codeClass()) {
          case CLIENT_ERROR -> Outcome.REFUSED;
          case SERVER_ERROR -> Outcome.FAILED;
          default -> method().equals(HttpMethod.POST) ? Outcome.CREATED : Outcome.SERVED;
        };
  }

  /** Returns the path of the target (RFC 9112, section 3.2), which may be no URI. */
  public String path() {
    return PATH.matcher(uri()).replaceFirst("$1");
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

  /** Returns the time since the head of the request was read. */
  Duration age() {
    return Duration.ofNanos(System.nanoTime() - beganNanos);
  }
}
