package org.plantstore.adapter.http.connection;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.handler.codec.http.ContentLengthNotAllowedException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.InvalidChunkExtensionException;
import io.netty.handler.codec.http.InvalidChunkTerminationException;
import io.netty.handler.codec.http.InvalidLineSeparatorException;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.handler.codec.http.TransferEncodingNotAllowedException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Checks the HTTP rules that Netty's decoder does not check, and provides the messages for error
 * 4005. Each message describes the fault and how to correct it. The messages are logged, so they
 * never quote text that could be a misplaced secret, such as a header or an entire line.
 */
final class MalformedRequest {

  static final String REQUEST_LINE =
      "The first line must consist of a method, a target, and a version, separated by single"
          + " spaces, such as POST /plants HTTP/1.1.";
  static final String HEADERS =
      "A header is malformed; write each header on one line as a name without spaces, a colon, and"
          + " a value without control characters.";
  static final String TRAILERS =
      "The trailers of the body are malformed or larger than 16 KiB; remove them.";
  private static final String LENGTH =
      "The length of the body is invalid or ambiguous; specify it once, either with a"
          + " Content-Length of at most 18 digits or, in HTTP/1.1, with Transfer-Encoding: chunked.";
  private static final String CHUNK =
      "A chunk of the body is malformed; send its size in hexadecimal (at most 7FFFFFFF), optional"
          + " extensions, CR LF, that number of bytes, and CR LF.";

  private static final Map<Class<?>, String> DECODER_FAULTS =
      Map.of(
          TooLongHttpLineException.class,
          "The first line, or the first line of a chunk, is longer than 16 KiB; shorten it.",
          TooLongHttpHeaderException.class,
          "The headers are larger than 16 KiB in total; shorten the token or the cookies.",
          InvalidLineSeparatorException.class,
          "The request contains a CR without LF, or an LF without CR; end each line with CR LF.",
          ContentLengthNotAllowedException.class,
          LENGTH,
          TransferEncodingNotAllowedException.class,
          LENGTH,
          InvalidChunkExtensionException.class,
          CHUNK,
          NumberFormatException.class,
          CHUNK,
          InvalidChunkTerminationException.class,
          CHUNK);

  private static final byte TLS_HANDSHAKE = 0x16; // RFC 8446, section 5.1

  /** The characters that a host name may contain unescaped (RFC 3986, section 3.2.2). */
  private static final String NAME = "0-9A-Za-z._~!$&'()*+,;=-";

  private static final String HEX = "[0-9A-Fa-f]{2}";

  /** Matches a host with an optional port (RFC 3986, sections 3.2.2 and 3.2.3). */
  private static final String AUTHORITY =
      "(?:\\[[0-9A-Fa-f:]*(?:[0-9]{1,3}(?:\\.[0-9]{1,3}){3})?]|(?:[NAME]|%HEX)++)(?::[0-9]{0,5})?"
          .replace("HEX", HEX)
          .replace("NAME", NAME);

  private static final Pattern HOST = Pattern.compile(AUTHORITY);

  /**
   * Matches the part of a target before its path, without a user name (RFC 9110, section 4.2.4).
   */
  private static final String BEFORE_PATH = "(?:(?=/)|(?i:https?)://" + AUTHORITY + "(?=[ /?]))";

  private record Fault(Pattern pattern, String message) {
    Fault(String pattern, String message) {
      this(Pattern.compile(pattern), message);
    }
  }

  /**
   * The first pattern that matches a request line determines the message. The message quotes the
   * text that the pattern's group matches. Each group matches only text that is unlikely to be a
   * secret. Methods are case-sensitive (RFC 9110, section 9.1). A pattern rejects lowercase
   * methods, because the framework would accept them. The target must have the origin form, the
   * absolute form, or, for OPTIONS, the asterisk form (RFC 9112, section 3.2). CONNECT is rejected,
   * because its target is not a path. The query is ignored, so it may contain the unescaped
   * brackets that browsers send. Unbounded quantifiers on groups are possessive, because greedy
   * quantifiers would use stack space for each repetition.
   */
  private static final List<Fault> REQUEST_LINE_FAULTS =
      List.of(
          new Fault(
              "^(?=[^ ]+ [^ ]+ HTTP/1\\.[01]$)(?=(?:([A-Za-z/]{1,40}) )?)"
                  + "[A-Z!#$%&'*+.^_`|~0-9-]*+[^ ]",
              "The method must consist of capital letters, such as POST{but}."),
          new Fault(
              "([^ -~])",
              "The first line contains the byte 0x{hex}; encode it as %{hex}, or remove it."),
          new Fault(
              "^[^ ]+ [^ ]+ .*[^ ] HTTP/[^ ]*$", "The target contains a space; encode it as %20."),
          new Fault(
              "^[^ ]+ [^ ]+ (?!HTTP/1\\.[01]$)([A-Za-z]{1,8}/[0-9.]{1,8})$",
              "The version must be HTTP/1.1 or HTTP/1.0{but}."),
          new Fault("^(?![^ ]+ [^ ]+ HTTP/1\\.[01]$)", REQUEST_LINE),
          new Fault(
              "^(?!OPTIONS \\* |(?!CONNECT )[^ ]+ "
                  + (BEFORE_PATH + ")[^ ]+ (?:((?:[A-Za-z*/._-]|:[0-9]{0,5}){1,40}) )?"),
              "The target must begin with / or be a URL such as http://host:80/path without a user"
                  + " name{but}."),
          new Fault(
              " " + BEFORE_PATH + "(?:[/:@" + NAME + "]|%" + HEX + ")*+(?:\\?[^ #]*+)?+([^ ])",
              "The target contains the character {quoted}; encode it as %{hex}, or remove it."));

  /**
   * The request line of nearly all requests. Comparing a line with these bytes took 6 ns on a busy
   * machine. Checking a similar line with the patterns took 10 to 12 µs.
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
    String line = new String(bytes, 0, length, ISO_8859_1);
    for (Fault fault : REQUEST_LINE_FAULTS) {
      Matcher found = fault.pattern().matcher(line);
      if (found.find()) {
        String culprit = found.groupCount() == 0 ? null : found.group(1);
        if (culprit == null) {
          return fault.message().replace("{but}", "");
        }
        String quoted = culprit.equals("\"") ? "'\"'" : '"' + culprit + '"';
        String hex = HexFormat.of().withUpperCase().toHexDigits((byte) culprit.charAt(0));
        return fault
            .message()
            .replace("{but}", ", but is " + quoted)
            .replace("{quoted}", quoted)
            .replace("{hex}", hex);
      }
    }
    return null;
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
    // Netty expects a fixed-length body after the obsolete header Sec-WebSocket-Key1.
    return isChunkedOrNot && !headers.contains(HttpHeaderNames.SEC_WEBSOCKET_KEY1) ? null : LENGTH;
  }

  /** Returns the message for a known exception of Netty's decoder, or the default message. */
  static String ofDecoder(Throwable cause, String defaultMessage) {
    if (defaultMessage.equals(TRAILERS) && cause instanceof TooLongHttpHeaderException) {
      return TRAILERS;
    }
    return String.valueOf(cause.getMessage()).contains("Content-Length")
        ? LENGTH
        : DECODER_FAULTS.getOrDefault(cause.getClass(), defaultMessage);
  }
}
