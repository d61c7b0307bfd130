package org.plantstore.adapter.http.connection;

import static java.util.Objects.requireNonNull;

import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.AsciiString;
import java.util.Date;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.cors.AllowedOrigins;
import org.plantstore.adapter.http.observe.RequestRecord;

/**
 * A request that carries its {@link RequestRecord}. The URI of the request contains only the path,
 * because the framework needs nothing else for routing.
 */
final class DecodedRequest extends DefaultHttpRequest implements RequestRecord.Recorded {

  private static final AsciiString TYPE_OPTIONS = AsciiString.cached("x-content-type-options");
  private static final AsciiString NOSNIFF = AsciiString.cached("nosniff");

  private static final Pattern PATH =
      Pattern.compile("(?:[^/?#]+://[^/?#]*)?([^?#]*).*", Pattern.DOTALL);

  private final String path;
  private @Nullable RequestRecord record;

  /**
   * Creates a request from the parts of its request line. If the framework cannot parse a URI, it
   * replaces the request with another object, which carries no record. The URI is therefore reduced
   * to the path. If the path begins with two slashes, the framework would interpret them as the
   * start of an authority (RFC 3986, section 4.2), so a dot segment is inserted before them. No
   * route matches the resulting path.
   */
  DecodedRequest(HttpVersion version, HttpMethod method, String target, HttpHeaders headers) {
    super(version, method, target, headers);
    path = pathOf(target);
    setUri(path.isEmpty() ? "/" : path.startsWith("//") ? "/." + path : path);
  }

  private static String pathOf(String target) {
    boolean isPath = target.startsWith("/") && target.indexOf('?') < 0 && target.indexOf('#') < 0;
    return isPath ? target : PATH.matcher(target).replaceFirst("$1");
  }

  /** Replaces the URI of a malformed request, because the framework may fail to parse that URI. */
  @Override
  public void setDecoderResult(DecoderResult result) {
    super.setDecoderResult(result);
    if (result.isFailure()) {
      setUri("/");
    }
  }

  /** Creates the record of the request. Called when all headers have been received. */
  void createRecord() {
    record = new RequestRecord(method(), path, headers());
    // Removes Accept, because each path has a single media type. If Accept specified another type,
    // the framework would not find a route and would respond with 401.
    headers().remove(HttpHeaderNames.ACCEPT);
  }

  @Override
  public RequestRecord record() {
    return requireNonNull(record);
  }

  /** Returns the path of the request target (RFC 9112, section 3.2). The path may be malformed. */
  String path() {
    return path;
  }

  /** Returns whether a body follows the headers. */
  boolean hasBody() {
    return decoderResult().isSuccess()
        && (HttpUtil.getContentLength(this, 0L) > 0 || HttpUtil.isTransferEncodingChunked(this));
  }

  /** Adds the headers that every response contains. */
  @SuppressWarnings("JavaUtilDate") // Netty's headers accept no Instant
  void completeHeaders(HttpHeaders response, AllowedOrigins origins) {
    if (!response.contains(HttpHeaderNames.DATE)) {
      response.set(HttpHeaderNames.DATE, new Date()); // RFC 9110, section 6.6.1
    }
    response.set(RequestRecord.REQUEST_ID, record().requestId()).set(TYPE_OPTIONS, NOSNIFF);
    if (!response.contains(HttpHeaderNames.CACHE_CONTROL)) {
      response.set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE);
    }
    origins.set(response, this);
  }
}
