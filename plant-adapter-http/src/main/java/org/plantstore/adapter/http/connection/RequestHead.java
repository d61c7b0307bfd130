package org.plantstore.adapter.http.connection;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Arrays;
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
  private static final byte[] CREATE = "POST /plants HTTP/1.1".getBytes(US_ASCII);

  /** Nearly all requests name the same, for which the pattern is not needed either. */
  private static volatile String lastHost = "";

  private RequestHead() {}

  /** Returns whether the bytes have a method, a target and a version that are well-formed. */
  static boolean isFirstLine(byte[] bytes, int length) {
    if (Arrays.equals(bytes, 0, length, CREATE, 0, CREATE.length)) {
      return true;
    }
    String line = new String(bytes, 0, length, ISO_8859_1);
    if (!FIRST_LINE.matcher(line).matches()) {
      return false;
    }
    try {
      new URI(line.split(" ", -1)[1]); // checks escapes and addresses
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
            ? isHost(hosts.next()) && !hosts.hasNext()
            : request.protocolVersion().equals(HttpVersion.HTTP_1_0);
    return isHost
        && !headers.contains(HttpHeaderNames.SEC_WEBSOCKET_KEY1) // its content has no length
        && (!headers.contains(HttpHeaderNames.TRANSFER_ENCODING)
            || String.join(",", headers.getAll(HttpHeaderNames.TRANSFER_ENCODING))
                .equalsIgnoreCase("chunked"));
  }

  private static boolean isHost(String host) {
    if (host.equals(lastHost)) {
      return true;
    }
    boolean isHost = HOST.matcher(host).matches();
    if (isHost) {
      lastHost = host;
    }
    return isHost;
  }
}
