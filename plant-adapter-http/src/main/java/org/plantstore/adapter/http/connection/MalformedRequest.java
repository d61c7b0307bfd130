package org.plantstore.adapter.http.connection;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.InvalidLineSeparatorException;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Checks the HTTP rules that Netty's decoder does not check, and provides the messages for error
 * 4005. Each message describes the problem and how to fix it. The messages are logged, so they
 * never quote text that could contain a secret, such as a header or an entire line.
 */
final class MalformedRequest {

  static final String REQUEST_LINE =
      "The first line must consist of a method, a target, and a version, separated by single"
          + " spaces, such as POST /plants HTTP/1.1.";
  static final String HEADERS =
      "A header is malformed; write each header on one line as a name without spaces, a colon, and"
          + " a value without control characters.";
  static final String BODY =
      "The chunked body is malformed, or its trailers are larger than 16 KiB. Omit"
          + " trailers, and send each chunk in this form: its size in hexadecimal (at most 7FFFFFFF),"
          + " CR LF, its bytes, CR LF.";
  private static final String LENGTH =
      "The length of the body is invalid or ambiguous; specify it once, either with a"
          + " Content-Length of at most 18 digits or, in HTTP/1.1, with Transfer-Encoding: chunked.";

  /** Matches a phrase from Netty's error messages about invalid body lengths. */
  private static final Pattern BODY_LENGTH =
      Pattern.compile("Content-Length|Transfer-Encoding|transfer coding");

  private static final byte TLS_HANDSHAKE = 0x16; // RFC 8446, section 5.1

  /** Matches a character that both host names and paths can contain (RFC 3986, section 3.2.2). */
  private static final String CHARACTER = "[0-9A-Za-z._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2}";

  /** Matches a host with an optional port (RFC 3986, sections 3.2.2 and 3.2.3). */
  private static final String AUTHORITY =
      "(?:\\[[0-9A-Fa-f:]*(?:[0-9]{1,3}(?:\\.[0-9]{1,3}){3})?]|(?:NAME)++)(?::[0-9]{0,5})?"
          .replace("NAME", CHARACTER);

  private static final Pattern HOST = Pattern.compile(AUTHORITY);

  /** Matches a method, a target, and a version, separated by single spaces. */
  private static final Pattern WORDS =
      Pattern.compile("([^ ]+) (?! )(.*[^ ]) ([^ ]+)", Pattern.DOTALL);

  /**
   * Matches a method (RFC 9110, section 9.1) that contains no lowercase letters. Lowercase letters
   * are excluded, because the framework would accept {@code post} as {@code POST}.
   */
  private static final Pattern METHOD = Pattern.compile("[A-Z!#$%&'*+.^_`|~0-9-]+");

  /**
   * Matches a target up to its first invalid character. The target must have the origin form, or
   * the absolute form without a user name (RFC 9112, section 3.2; RFC 9110, section 4.2.4).
   * Unescaped brackets in a query are permitted, because browsers send them and the service ignores
   * the query. Unbounded quantifiers on groups are possessive to save stack space.
   */
  private static final Pattern TARGET =
      Pattern.compile(
          ("(?:(?=/)|(?i:https?)://" + AUTHORITY + "(?=[/?]|\\z))")
              + ("(?:[/:@]|" + CHARACTER + ")*+(?:\\?[!-~&&[^#]]*+)?+"));

  /** Matches text that is unlikely to be a secret, because it contains no long digit sequence. */
  private static final Pattern QUOTABLE = Pattern.compile("(?:[A-Za-z*_-]|[/.:][0-9]{0,5}){1,40}");

  /**
   * The most common request line. Comparing a request line with this array took 6 ns on a busy
   * machine, whereas matching a similar line against the patterns took 10 to 12 µs.
   */
  private static final byte[] CREATE = "POST /plants HTTP/1.1".getBytes(US_ASCII);

  private MalformedRequest() {}

  /** Returns the message for an invalid first byte of a request, or null if the byte is valid. */
  static @Nullable String ofBeginning(byte first) {
    if (first > ' ') {
      return null;
    }
    return first == TLS_HANDSHAKE
        ? "The connection begins with a TLS handshake, but this port does not use TLS; use http://"
            + " instead of https://."
        : REQUEST_LINE;
  }

  /** Returns the message for a malformed request line, or null if the line is well-formed. */
  static @Nullable String ofRequestLine(byte[] bytes, int length) {
    if (Arrays.equals(bytes, 0, length, CREATE, 0, CREATE.length)) {
      return null;
    }
    Matcher words = WORDS.matcher(new String(bytes, 0, length, ISO_8859_1));
    if (!words.matches()) {
      return REQUEST_LINE;
    }
    if (!METHOD.matcher(words.group(1)).matches()) {
      return "The method must be in capital letters, as in POST" + butIs(words.group(1));
    }
    if (!words.group(3).equals("HTTP/1.1") && !words.group(3).equals("HTTP/1.0")) {
      return "The version must be HTTP/1.1 or HTTP/1.0" + butIs(words.group(3));
    }
    return ofTarget(words.group(1), words.group(2));
  }

  private static @Nullable String ofTarget(String method, String target) {
    if (method.equals("OPTIONS") && target.equals("*")) {
      return null;
    }
    Matcher valid = TARGET.matcher(target);
    if (method.equals("CONNECT") || !valid.lookingAt()) { // the target of CONNECT is not a path
      return "The target must begin with / or be an http URL without a user name, such as"
          + " http://host:80/path"
          + butIs(target);
    }
    if (valid.end() == target.length()) {
      return null;
    }
    char invalid = target.charAt(valid.end());
    if (invalid == ' ') {
      return "The target contains a space; encode it as %20.";
    }
    String hex = HexFormat.of().withUpperCase().toHexDigits((byte) invalid);
    String named =
        invalid > ' ' && invalid <= '~' ? "character '" + invalid + "'" : "byte 0x" + hex;
    return "The target contains the " + named + "; encode it as %" + hex + ", or remove it.";
  }

  /** Returns the message's end: the quoted text, or a period if the text could be a secret. */
  private static String butIs(String text) {
    return QUOTABLE.matcher(text).matches() ? ", but is \"" + text + "\"." : ".";
  }

  /** Returns the message for invalid headers, or null if the headers are valid. */
  static @Nullable String ofHeaders(HttpRequest request) {
    HttpHeaders headers = request.headers();
    Iterator<String> hosts = headers.valueStringIterator(HttpHeaderNames.HOST);
    // An empty host is rejected, because http URLs require a host (RFC 9110, section 4.2.1).
    boolean isHost =
        hosts.hasNext()
            ? HOST.matcher(hosts.next()).matches() && !hosts.hasNext()
            : request.protocolVersion().equals(HttpVersion.HTTP_1_0);
    if (!isHost) {
      return "The request must have exactly one Host header that contains only a host and an"
          + " optional port.";
    }
    List<String> codings = headers.getAll(HttpHeaderNames.TRANSFER_ENCODING);
    boolean isChunkedOrNot =
        codings.isEmpty() || String.join(",", codings).equalsIgnoreCase("chunked");
    // The obsolete Sec-WebSocket-Key1 header is rejected, because it makes Netty expect a body of a
    // fixed length.
    return isChunkedOrNot && !headers.contains(HttpHeaderNames.SEC_WEBSOCKET_KEY1) ? null : LENGTH;
  }

  /** Returns the message for Netty's failure to decode a request line or headers. */
  static String ofDecoder(Throwable cause, String defaultMessage) {
    if (cause instanceof TooLongHttpLineException) {
      return "The first line is longer than 16 KiB; shorten it.";
    }
    if (cause instanceof TooLongHttpHeaderException) {
      return "The headers are larger than 16 KiB in total; shorten the token or the cookies.";
    }
    if (cause instanceof InvalidLineSeparatorException) {
      return "A line does not end with CR LF; end each line of the request with CR LF.";
    }
    return BODY_LENGTH.matcher(String.valueOf(cause.getMessage())).find() ? LENGTH : defaultMessage;
  }
}
