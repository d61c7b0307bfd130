package org.plantstore.adapter.http.observe;

import io.micronaut.http.HttpRequest;
import io.micronaut.http.server.netty.NettyHttpRequest;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.AsciiString;
import java.time.Duration;
import java.util.Date;
import java.util.concurrent.ScheduledExecutorService;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.cors.AllowedOrigins;
import org.plantstore.adapter.http.error.ErrorNumber;

/**
 * A request and the record of its answer, as in the JDK's {@code HttpExchange}. Changed by the
 * event loop of its connection, except that the thread that prepares the answer records the caller
 * and an error.
 */
public final class Exchange extends DefaultHttpRequest {

  private static final AsciiString TYPE_OPTIONS = AsciiString.cached("x-content-type-options");
  private static final AsciiString NOSNIFF = AsciiString.cached("nosniff");

  private static final Pattern PATH =
      Pattern.compile("(?:[^/?#]+://[^/?#]*)?([^?#]*).*", Pattern.DOTALL);

  private final String path;
  private long beganNanos;
  private boolean hasBody;
  private RequestIds ids = RequestIds.NONE;
  private @Nullable HttpResponseStatus status;
  private String caller = "";
  private @Nullable ErrorNumber error;
  private long answeredBytes;
  private boolean isAnswered;

  /**
   * Creates an exchange from the first line of its request. Its URI is the path, because the
   * framework replaces a request whose URI it cannot parse by one of its own. Two slashes at the
   * beginning would be taken for an authority (RFC 3986, section 4.2), so a dot segment is inserted
   * before them. No route matches such a path.
   */
  public Exchange(HttpVersion version, HttpMethod method, String target, HttpHeaders headers) {
    super(version, method, target, headers);
    path = pathOf(target);
    setUri(path.isEmpty() ? "/" : path.startsWith("//") ? "/." + path : path);
  }

  /** Returns the exchange of the framework's request. */
  public static Exchange of(HttpRequest<?> request) {
    return (Exchange) ((NettyHttpRequest<?>) request).getNativeRequest();
  }

  /** Returns whether a message is an interim response (1xx). */
  public static boolean isInterim(Object message) {
    return message instanceof HttpResponse head
        && head.status().codeClass() == HttpStatusClass.INFORMATIONAL;
  }

  /** Returns the event loop of the request's connection. */
  public static ScheduledExecutorService eventLoopOf(HttpRequest<?> request) {
    return ((NettyHttpRequest<?>) request).getChannelHandlerContext().executor();
  }

  /** Begins the exchange when the head of its request has been read. */
  public void begin() {
    beganNanos = System.nanoTime();
    ids = RequestIds.of(headers());
    hasBody =
        decoderResult().isSuccess()
            && (HttpUtil.getContentLength(this, 0L) > 0
                || HttpUtil.isTransferEncodingChunked(this));
    // Each path has one media type. With another type in Accept, the framework would find no route,
    // and answer with 401.
    headers().remove(HttpHeaderNames.ACCEPT);
  }

  /** Returns whether a body follows the head, if that is well-formed. */
  public boolean hasBody() {
    return hasBody;
  }

  /** Replaces the URI of a malformed head, which the framework may be unable to parse. */
  @Override
  public void setDecoderResult(DecoderResult result) {
    super.setDecoderResult(result);
    if (result.isFailure()) {
      setUri("/");
    }
  }

  /** Runs work; log lines of this thread meanwhile carry the request id and the trace id. */
  public void runWithIds(Runnable work) {
    ids.run(work);
  }

  /** Records who has sent the request. */
  public void recordCaller(String name) {
    caller = name;
  }

  /** Records the error that is the answer. */
  public void recordError(ErrorNumber number) {
    error = number;
  }

  /** Records a part of the answer, and sets the headers that all answers have. */
  public void recordAnswer(Object part, AllowedOrigins origins) {
    if (part instanceof HttpResponse head) {
      status = head.status();
      setHeaders(head.headers());
      origins.set(head.headers(), this);
    }
    if (part instanceof HttpContent content) {
      answeredBytes += content.content().readableBytes();
      isAnswered = content instanceof LastHttpContent;
    }
  }

  @SuppressWarnings("JavaUtilDate") // as Netty's headers take it
  private void setHeaders(HttpHeaders answer) {
    if (!answer.contains(HttpHeaderNames.DATE)) {
      answer.set(HttpHeaderNames.DATE, new Date()); // RFC 9110, section 6.6.1
    }
    answer.set(RequestIds.HEADER, ids.requestId()).set(TYPE_OPTIONS, NOSNIFF);
    if (!answer.contains(HttpHeaderNames.CACHE_CONTROL)) {
      answer.set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE);
    }
  }

  private static String pathOf(String target) {
    boolean isPath = target.startsWith("/") && target.indexOf('?') < 0 && target.indexOf('#') < 0;
    return isPath ? target : PATH.matcher(target).replaceFirst("$1");
  }

  /** Returns the path of the target (RFC 9112, section 3.2); the target may be malformed. */
  public String path() {
    return path;
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
