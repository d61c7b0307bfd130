package org.plantstore.adapter.http.connection;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpConstants;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
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
  static final Pattern FIRST_LINE =
      Pattern.compile(
          "(?:OPTIONS \\*|(?!CONNECT )[!-~&&[^a-z]]++ (?:/|(?i:https?)://"
              + AUTHORITY
              + "(?![^ /?]))[!-~&&[^#\\[\\]]]*+) HTTP/1\\.[01]");

  private RequestHead() {}

  /** Returns whether one of the decoded lines is folded; Netty appends it to the last. */
  static boolean isFolded(ByteBuf lines, int from) {
    boolean isFolded = false;
    for (int line = from; line < lines.readerIndex(); ) {
      byte first = lines.getByte(line);
      isFolded |= first == HttpConstants.SP || first == HttpConstants.HT;
      line = lines.indexOf(line, lines.readerIndex(), HttpConstants.LF) + 1;
    }
    return isFolded;
  }

  /** Returns whether target, host, coding and content fit HTTP/1.1, or HTTP/1.0. */
  static boolean isWellFormed(HttpRequest request) {
    try {
      new URI(request.uri()); // as the framework parses it; checks escapes and addresses
    } catch (URISyntaxException | NumberFormatException e) {
      return false;
    }
    HttpHeaders headers = request.headers();
    List<String> hosts = headers.getAll(HttpHeaderNames.HOST);
    List<String> codings = headers.getAll(HttpHeaderNames.TRANSFER_ENCODING);
    // An empty host is for targets without an authority (RFC 9110, section 4.2.1).
    return (hosts.size() == 1
            ? HOST.matcher(hosts.get(0)).matches()
            : hosts.isEmpty() && request.protocolVersion().equals(HttpVersion.HTTP_1_0))
        && !headers.contains(HttpHeaderNames.SEC_WEBSOCKET_KEY1) // its content has no length
        && (codings.isEmpty()
            || (codings.size() == 1 && "chunked".equalsIgnoreCase(codings.get(0))));
  }
}
