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

/** The rules for the head of a request that Netty's decoder does not check. */
final class RequestHead {

  /** The unreserved characters and delimiters of a host's name. */
  private static final String NAME = "0-9A-Za-z._~!$&'()*+,;=-";

  /** An address in brackets, or a name, and a port (RFC 3986, sections 3.2.2 and 3.2.3). */
  private static final String AUTHORITY =
      "(?:\\[[:" + NAME + "]*]|(?:[" + NAME + "]++|%[0-9A-Fa-f]{2})++)(?::[0-9]{0,5})?";

  private static final Pattern HOST = Pattern.compile(AUTHORITY);

  /**
   * The origin form and the absolute form (RFC 9112, section 3.2), without a user (RFC 9110,
   * section 4.2.4) or a fragment, and with brackets only around an address.
   */
  private static final Pattern TARGET =
      Pattern.compile("(?:/|(?i:https?)://" + AUTHORITY + "(?![^/?]))[!-~&&[^#\\[\\]]]*");

  private RequestHead() {}

  /** Returns whether version, method, host, coding and target fit HTTP/1.1, or HTTP/1.0. */
  static boolean isWellFormed(HttpRequest request) {
    String method = request.method().name();
    HttpHeaders headers = request.headers();
    List<String> codings = headers.getAll(HttpHeaderNames.TRANSFER_ENCODING);
    // Methods are case-sensitive (RFC 9110, section 9.1), but the framework ignores case.
    return method.equals(method.toUpperCase(Locale.ROOT))
        && !request.method().equals(HttpMethod.CONNECT) // its form of target fits no path
        && isHost(headers.getAll(HttpHeaderNames.HOST), request.protocolVersion())
        && (codings.isEmpty()
            || (codings.size() == 1 && "chunked".equalsIgnoreCase(codings.get(0))))
        && isTarget(request);
  }

  /** An empty host is for targets without an authority (RFC 9110, section 4.2.1). */
  @SuppressWarnings("ReferenceEquality")
  private static boolean isHost(List<String> hosts, HttpVersion version) {
    // Netty creates another object for any other spelling (RFC 9112, section 2.3).
    return hosts.size() == 1
        ? HOST.matcher(hosts.get(0)).matches()
            && (version == HttpVersion.HTTP_1_1 || version == HttpVersion.HTTP_1_0)
        : hosts.isEmpty() && version == HttpVersion.HTTP_1_0;
  }

  private static boolean isTarget(HttpRequest request) {
    String target = request.uri();
    if (target.equals("/plants") // as nearly all are
        || (target.equals("*") && request.method().equals(HttpMethod.OPTIONS))) {
      return true;
    }
    try {
      new URI(target); // as the framework parses it; checks characters and escapes
      return TARGET.matcher(target).matches();
    } catch (URISyntaxException e) {
      return false;
    }
  }
}
