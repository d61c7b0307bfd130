package org.plantstore.adapter.http.connection;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/** What RFC 9112 demands of the head of a request, and Netty's decoder does not check. */
final class RequestHead {

  /** The target of nearly all requests. */
  private static final String PLANTS = "/plants";

  private static final String ESCAPED = "%[0-9A-Fa-f]{2}";
  private static final String UNRESERVED_OR_DELIMITER = "0-9A-Za-z._~!$&'()*+,;=-";

  /** An address in brackets, or a name, and a port (RFC 3986, sections 3.2.2 and 3.2.3). */
  private static final String AUTHORITY =
      "(?:\\[[:"
          + UNRESERVED_OR_DELIMITER
          + "]*]|(?:["
          + UNRESERVED_OR_DELIMITER
          + "]|"
          + ESCAPED
          + ")+)(?::[0-9]{0,5})?";

  private static final String PATH_AND_QUERY =
      "(?:[/:@?" + UNRESERVED_OR_DELIMITER + "]|" + ESCAPED + ")*+";

  private static final Pattern HOST = Pattern.compile(AUTHORITY);

  /**
   * The forms of RFC 9112, sections 3.2.1 and 3.2.2; a user in the address is refused (RFC 9110,
   * section 4.2.4).
   */
  private static final Pattern TARGET =
      Pattern.compile(
          "/" + PATH_AND_QUERY + "|(?i:https?)://" + AUTHORITY + "(?:[/?]" + PATH_AND_QUERY + ")?");

  private RequestHead() {}

  /** Returns whether method, version, host, transfer coding and target are those of HTTP/1.1. */
  static boolean isWellFormed(HttpRequest request) {
    boolean isCurrent = isVersion(request, HttpVersion.HTTP_1_1);
    HttpHeaders headers = request.headers();
    List<String> hosts = headers.getAll(HttpHeaderNames.HOST);
    List<String> codings = headers.getAll(HttpHeaderNames.TRANSFER_ENCODING);
    return (isCurrent || isVersion(request, HttpVersion.HTTP_1_0))
        && isMethod(request.method().name())
        && (hosts.size() == 1 ? isHost(hosts.get(0)) : hosts.isEmpty() && !isCurrent)
        && (codings.isEmpty()
            || (codings.size() == 1 && codings.get(0).equalsIgnoreCase("chunked")))
        && isTarget(request);
  }

  /**
   * Returns whether the version is this one, to the letter (RFC 9112, section 2.3): the decoder
   * returns its constant for that, and an equal object for {@code http/1.1}.
   */
  @SuppressWarnings("ReferenceEquality")
  private static boolean isVersion(HttpRequest request, HttpVersion version) {
    return request.protocolVersion() == version;
  }

  /** The framework would overlook the case, which matters (RFC 9110, section 9.1). */
  private static boolean isMethod(String method) {
    return method.equals(method.toUpperCase(Locale.ROOT));
  }

  /**
   * An empty host is for targets without an authority, of which there are none here (RFC 9110,
   * 4.2.1).
   */
  private static boolean isHost(String host) {
    return HOST.matcher(host).matches();
  }

  private static boolean isTarget(HttpRequest request) {
    String target = request.uri();
    return target.equals(PLANTS)
        || (target.equals("*") && request.method().equals(HttpMethod.OPTIONS))
        || (TARGET.matcher(target).matches() && isUri(target));
  }

  /** The framework parses the target once more, with a parser that refuses some. */
  private static boolean isUri(String target) {
    try {
      new URI(target);
      return true;
    } catch (URISyntaxException e) {
      return false;
    }
  }
}
