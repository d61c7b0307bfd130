package org.plantstore.adapter.http.connection;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.regex.Matcher;
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
  private static final String BEFORE_PATH = "(?:(?=/)|(?i:https?)://" + AUTHORITY + "(?=[ /?]))";

  /** A rule that a first line breaks if it contains a pattern; the group is the culprit. */
  private record Fault(Pattern pattern, String sentence) {

    Fault(String pattern, String sentence) {
      this(Pattern.compile(pattern), sentence);
    }
  }

  /**
   * A first line is well-formed if it has none of these faults; otherwise the first one explains
   * it. Methods are case-sensitive (RFC 9110, section 9.1), but the framework ignores case. The
   * target has the origin form or the absolute form (RFC 9112, section 3.2); CONNECT is refused,
   * because its target is no path. The query is ignored, so browsers' raw brackets are accepted in
   * it.
   */
  private static final List<Fault> FIRST_LINE_FAULTS =
      List.of(
          new Fault(
              "^(?=[^ ]+ [^ ]+ HTTP/1\\.[01]$)[!#$%&'*+.^_`|~0-9A-Za-z-]*+[^ ]",
              "The method contains a character that is not allowed; send a method such as POST."),
          new Fault(
              "([\\x00-\\x1F\\x7F])",
              "The first line contains the control character 0x{hex}; remove or replace it."),
          new Fault(
              "([^ -~])",
              "The first line contains the byte 0x{hex}, which is not ASCII; percent-encode"
                  + " each such byte, this one as %{hex}."),
          new Fault(
              "^[^ ]+ [^ ]+ .*[^ ] HTTP/[^ ]*$", "The target contains a space; encode it as %20."),
          new Fault(
              "^[^ ]+ [^ ]+ (?!HTTP/1\\.[01]$)((?i:HTTP)/[0-9.]{1,8})$",
              "The version of HTTP must be HTTP/1.1, but is {}."),
          new Fault(
              "^[^ ]+ [^ ]+ (?!HTTP/1\\.[01]$)[^ ]+$", "The version of HTTP must be HTTP/1.1."),
          new Fault("^(?![^ ]+ [^ ]+ HTTP/1\\.[01]$)", MalformedRequest.FIRST_LINE),
          new Fault("^[^ ]*[a-z]", "The method must be in upper case, such as POST."),
          new Fault("^CONNECT ", "CONNECT is not supported, because the service is not a proxy."),
          new Fault(" .*#", "The target contains #; leave out the fragment, or encode # as %23."),
          new Fault(
              "^(?!OPTIONS \\* |[^ ]+ " + BEFORE_PATH + ")",
              "The target must be a path that begins with /, or a URL such as http://host:80/path,"
                  + " without a user name."),
          new Fault(
              " " + BEFORE_PATH + "[^ ?]*%(?!" + HEX + ")",
              "The path contains a % that is not followed by two hexadecimal digits; encode % as %25."),
          new Fault(
              " " + BEFORE_PATH + "[%/:@" + NAME + "]*+([^ ?])",
              "The path contains {}; encode it as %{hex}."));

  /** The line of nearly all requests, for which the patterns are not needed. */
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
    for (Fault fault : FIRST_LINE_FAULTS) {
      Matcher found = fault.pattern().matcher(line);
      if (found.find()) {
        String culprit = found.groupCount() == 0 ? " " : found.group(1);
        String hex = HexFormat.of().withUpperCase().toHexDigits((byte) culprit.charAt(0));
        return fault.sentence().replace("{}", culprit).replace("{hex}", hex);
      }
    }
    return null;
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
