package org.plantstore.adapter.http.connection;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.util.Arrays;
import java.util.Iterator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The rules for the head of a request that Netty's decoder does not check. */
final class RequestHead {

  /** The unreserved characters and delimiters of a host's name. */
  private static final String NAME = "0-9A-Za-z._~!$&'()*+,;=-";

  private static final String HEX = "[0-9A-Fa-f]{2}";

  /** An address in brackets, or a name, and a port (RFC 3986, sections 3.2.2 and 3.2.3). */
  private static final String AUTHORITY =
      "(?:\\[[0-9A-Fa-f:]*(?:[0-9]{1,3}(?:\\.[0-9]{1,3}){3})?]|(?![^ /?]*%(?!HEX))[%NAME]++)"
              .replace("HEX", HEX)
              .replace("NAME", NAME)
          + "(?::[0-9]{0,5})?";

  private static final Pattern HOST = Pattern.compile(AUTHORITY);

  /** A path, or a URL without a user (RFC 9110, section 4.2.4), up to the path. */
  static final String BEFORE_PATH = "(?:(?=/)|(?i:https?)://" + AUTHORITY + "(?=[ /?]))";

  /** Characters of a path, and a percent sign without the digits that must follow it. */
  static final String PATH = "%/:@" + NAME;

  static final String LONE_PERCENT = "[^ ?]*%(?!" + HEX + ")";

  /**
   * Methods are case-sensitive (RFC 9110, section 9.1), but the framework ignores case. The target
   * has the origin form or the absolute form (RFC 9112, section 3.2), without a fragment; CONNECT
   * is refused: its target is no path. The query is ignored, so browsers' raw brackets are
   * accepted.
   */
  private static final Pattern FIRST_LINE =
      Pattern.compile(
          "(?:OPTIONS \\*|(?!CONNECT )[!-~&&[^a-z]]++ "
              + (BEFORE_PATH + "(?!" + LONE_PERCENT + ")[" + PATH + "]*+(?:\\?[!-~&&[^#]]*+)?)")
              + " HTTP/1\\.[01]");

  /** The line of nearly all requests, for which the pattern is not needed. */
  private static final byte[] CREATE = "POST /plants HTTP/1.1".getBytes(US_ASCII);

  /** Nearly all requests name the same, for which the pattern is not needed either. */
  private static volatile String lastHost = "";

  private RequestHead() {}

  /** Returns what is wrong with a first line and how to correct it, or null if nothing is. */
  static @Nullable String faultOfFirstLine(byte[] bytes, int length) {
    if (Arrays.equals(bytes, 0, length, CREATE, 0, CREATE.length)) {
      return null;
    }
    String line = new String(bytes, 0, length, ISO_8859_1);
    return FIRST_LINE.matcher(line).matches() ? null : MalformedRequest.ofFirstLine(line);
  }

  /**
   * Returns what is wrong with host, transfer coding and content of a head for HTTP/1.1 or
   * HTTP/1.0, or null if nothing is.
   */
  static @Nullable String faultOf(HttpRequest request) {
    HttpHeaders headers = request.headers();
    Iterator<String> hosts = headers.valueStringIterator(HttpHeaderNames.HOST);
    // An empty host is for targets without an authority (RFC 9110, section 4.2.1).
    boolean isHost =
        hosts.hasNext()
            ? isHost(hosts.next()) && !hosts.hasNext()
            : request.protocolVersion().equals(HttpVersion.HTTP_1_0);
    if (!isHost) {
      return MalformedRequest.ofHosts(headers.getAll(HttpHeaderNames.HOST));
    }
    if (headers.contains(HttpHeaderNames.SEC_WEBSOCKET_KEY1)) { // its content has no length
      return "The header Sec-WebSocket-Key1 is not supported; leave it out.";
    }
    if (headers.contains(HttpHeaderNames.TRANSFER_ENCODING)) {
      return MalformedRequest.ofTransferCodings(headers.getAll(HttpHeaderNames.TRANSFER_ENCODING));
    }
    return null;
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
