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

  /** Returns whether method, version, host, transfer coding and target are those of HTTP/1.1. */
  static boolean isWellFormed(HttpRequest request) {
    boolean isCurrent = isVersion(request, HttpVersion.HTTP_1_1);
    HttpHeaders headers = request.headers();
    List<String> hosts = headers.getAll(HttpHeaderNames.HOST);
    List<String> codings = headers.getAll(HttpHeaderNames.TRANSFER_ENCODING);
    return (isCurrent || isVersion(request, HttpVersion.HTTP_1_0))
        && isMethod(request.method().name())
        // An empty host is for targets without an authority, of which there are none here (RFC
        // 9110, section 4.2.1).
        && (hosts.size() == 1
            ? HOST.matcher(hosts.get(0)).matches()
            : hosts.isEmpty() && !isCurrent)
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

  private static boolean isTarget(HttpRequest request) {
    String target = request.uri();
    return target.equals(PLANTS)
        || (target.equals("*") && request.method().equals(HttpMethod.OPTIONS))
        || (TARGET.matcher(target).matches() && isUri(target));
  }

  /** The framework parses the target with the same parser, which checks characters and escapes. */
  private static boolean isUri(String target) {
    try {
      new URI(target);
      return true;
    } catch (URISyntaxException e) {
      return false;
    }
  }
}
