package org.plantstore.adapter.http.connection;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.AsciiString;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Iterator;
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
   * Methods are case-sensitive (RFC 9110, section 9.1), but the framework ignores case. The target
   * has the origin form or the absolute form (RFC 9112, section 3.2), without a user (RFC 9110,
   * section 4.2.4) or a fragment; CONNECT is refused: its target is no path.
   */
  private static final Pattern FIRST_LINE =
      Pattern.compile(
          "(?:OPTIONS \\*|(?!CONNECT )[!-~&&[^a-z]]++ (?:/|(?i:https?)://"
              + AUTHORITY
              + "(?![^ /?]))[!-~&&[^#\\[\\]]]*+) HTTP/1\\.[01]");

  /** The line of nearly all requests, for which the pattern is not needed. */
  private static final AsciiString CREATE = AsciiString.of("POST /plants HTTP/1.1");

  private RequestHead() {}

  /** Returns whether a first line has a method, a target and a version that are served. */
  static boolean isWellFormed(AsciiString firstLine) {
    if (firstLine.equals(CREATE)) {
      return true;
    }
    if (!FIRST_LINE.matcher(firstLine).matches()) {
      return false;
    }
    try {
      new URI(firstLine.toString().split(" ", -1)[1]); // checks escapes and addresses
      return true;
    } catch (URISyntaxException | NumberFormatException e) {
      return false;
    }
  }

  /** Returns whether host, coding and content fit HTTP/1.1, or HTTP/1.0. */
  static boolean isWellFormed(HttpRequest request) {
    HttpHeaders headers = request.headers();
    Iterator<String> hosts = headers.valueStringIterator(HttpHeaderNames.HOST);
    // An empty host is for targets without an authority (RFC 9110, section 4.2.1).
    boolean isHost =
        hosts.hasNext()
            ? HOST.matcher(hosts.next()).matches() && !hosts.hasNext()
            : request.protocolVersion().equals(HttpVersion.HTTP_1_0);
    return isHost
        && !headers.contains(HttpHeaderNames.SEC_WEBSOCKET_KEY1) // its content has no length
        && (!headers.contains(HttpHeaderNames.TRANSFER_ENCODING)
            || String.join(",", headers.getAll(HttpHeaderNames.TRANSFER_ENCODING))
                .equalsIgnoreCase("chunked"));
  }
}
