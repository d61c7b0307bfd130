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

  /** What needs no escape in the name of a host: unreserved characters and delimiters. */
  private static final String NAME = "0-9A-Za-z._~!$&'()*+,;=-";

  /** An address in brackets, or a name, and a port (RFC 3986, sections 3.2.2 and 3.2.3). */
  private static final String AUTHORITY =
      "(?:\\[[:" + NAME + "]*]|(?:[" + NAME + "]++|%[0-9A-Fa-f]{2})++)(?::[0-9]{0,5})?";

  private static final Pattern HOST = Pattern.compile(AUTHORITY);

  /** Printable, without a fragment, and without brackets, which are for addresses alone. */
  private static final String PATH_AND_QUERY = "[!-~&&[^#\\[\\]]]*";

  /**
   * The forms of RFC 9112, sections 3.2.1 and 3.2.2; a user in the address is refused (RFC 9110,
   * section 4.2.4).
   */
  private static final Pattern TARGET =
      Pattern.compile(
          "/" + PATH_AND_QUERY + "|(?i:https?)://" + AUTHORITY + "(?:[/?]" + PATH_AND_QUERY + ")?");

  private RequestHead() {}

  /** Returns whether method, host, transfer coding and target are those of HTTP/1.1. */
  static boolean isWellFormed(HttpRequest request) {
    String method = request.method().name();
    HttpHeaders headers = request.headers();
    List<String> hosts = headers.getAll(HttpHeaderNames.HOST);
    List<String> codings = headers.getAll(HttpHeaderNames.TRANSFER_ENCODING);
    // The framework would overlook the case of a method, which matters (RFC 9110, section 9.1).
    return method.equals(method.toUpperCase(Locale.ROOT))
        // An empty host is for targets without an authority, of which there are none here (RFC
        // 9110, section 4.2.1).
        && (hosts.size() == 1
            ? HOST.matcher(hosts.get(0)).matches()
            : hosts.isEmpty() && request.protocolVersion().equals(HttpVersion.HTTP_1_0))
        && (codings.isEmpty()
            || (codings.size() == 1 && codings.get(0).equalsIgnoreCase("chunked")))
        && isTarget(request);
  }

  private static boolean isTarget(HttpRequest request) {
    String target = request.uri();
    if (target.equals("/plants") // as nearly all are
        || (target.equals("*") && request.method().equals(HttpMethod.OPTIONS))) {
      return true;
    }
    try {
      // As the framework will do; checks characters and escapes.
      new URI(target);
      return TARGET.matcher(target).matches();
    } catch (URISyntaxException e) {
      return false;
    }
  }
}
