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
 * The rules for requests that Netty's decoder does not check, and the messages of error 4005, which
 * say what is wrong with a request and how to correct it. The messages are logged, so they quote
 * nothing that may be a secret in the wrong place.
 */
final class MalformedRequest {

  static final String FIRST_LINE =
      "The first line must consist of a method, a target and the version HTTP/1.1, with one space"
          + " between them, such as POST /plants HTTP/1.1.";
  static final String HEADERS =
      "Each header must be one line with a name without spaces, a colon, and a value without"
          + " control characters.";
  static final String TRAILERS =
      "A trailer of the body is malformed, or the trailers exceed 16 KiB; leave them out.";
  private static final String LENGTH =
      "The length of the body must be given either by one Content-Length with at most 18 digits or,"
          + " in HTTP/1.1, by Transfer-Encoding: chunked, and by nothing else.";
  private static final String CHUNK =
      "Each chunk must consist of its size in hexadecimal, at most 7FFFFFFF, possibly extensions,"
          + " CR LF, as many bytes, and CR LF.";

  private static final Map<Class<?>, String> DECODER_FAULTS =
      Map.of(
          TooLongHttpLineException.class,
          "The first line, or the line before a chunk, exceeds 16 KiB; shorten it.",
          TooLongHttpHeaderException.class,
          "The headers exceed 16 KiB; shorten the token or the cookies.",
          InvalidLineSeparatorException.class,
          "Every line must end with CR LF, and contain neither of them elsewhere.",
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

  /** The unreserved characters and delimiters of the name of a host. */
  private static final String NAME = "0-9A-Za-z._~!$&'()*+,;=-";

  private static final String HEX = "[0-9A-Fa-f]{2}";

  /** An address in brackets, or a name, and a port (RFC 3986, sections 3.2.2 and 3.2.3). */
  private static final String AUTHORITY =
      "(?:\\[[0-9A-Fa-f:]*(?:[0-9]{1,3}(?:\\.[0-9]{1,3}){3})?]|(?:[NAME]|%HEX)++)(?::[0-9]{0,5})?"
          .replace("HEX", HEX)
          .replace("NAME", NAME);

  private static final Pattern HOST = Pattern.compile(AUTHORITY);

  /** A path, or a URL without a user (RFC 9110, section 4.2.4), up to the path. */
  private static final String BEFORE_PATH = "(?:(?=/)|(?i:https?)://" + AUTHORITY + "(?=[ /?]))";

  private record Fault(Pattern pattern, String message) {
    Fault(String pattern, String message) {
      this(Pattern.compile(pattern), message);
    }
  }

  /**
   * The first pattern that a first line contains determines the message; the group is the culprit.
   * Methods are case-sensitive (RFC 9110, section 9.1), but the framework ignores case. The target
   * has the origin form or the absolute form (RFC 9112, section 3.2); CONNECT is refused, because
   * its target is not a path. The query is ignored, so it may contain the raw brackets that
   * browsers send. The quantifiers are possessive, because the others would use the stack for each
   * character.
   */
  private static final List<Fault> FIRST_LINE_FAULTS =
      List.of(
          new Fault(
              "^(?=[^ ]+ [^ ]+ HTTP/1\\.[01]$)[A-Z!#$%&'*+.^_`|~0-9-]*+[^ ]",
              "The method must be a name in upper case, such as POST."),
          new Fault(
              "([^ -~])",
              "The first line contains the byte 0x{hex}; remove it, or encode it as %{hex}."),
          new Fault(
              "^[^ ]+ [^ ]+ .*[^ ] HTTP/[^ ]*$", "The target contains a space; encode it as %20."),
          new Fault("^(?![^ ]+ [^ ]+ HTTP/1\\.[01]$)", FIRST_LINE),
          new Fault(
              "^(?!OPTIONS \\* |(?!CONNECT )[^ ]+ " + BEFORE_PATH + ")",
              "The target must be a path that begins with /, or a URL such as http://host:80/path,"
                  + " without a user name."),
          new Fault(
              " " + BEFORE_PATH + "(?:[/:@" + NAME + "]|%" + HEX + ")*+(?:\\?[^ #]*+)?+([^ ])",
              "The target contains {}; leave it out, or encode it as %{hex}."));

  /**
   * The first line of nearly all requests needs no patterns, which took 10 to 12 µs for a similar
   * line on a busy machine, compared with 6 ns.
   */
  private static final byte[] CREATE = "POST /plants HTTP/1.1".getBytes(US_ASCII);

  private MalformedRequest() {}

  /** Returns what is wrong with the first byte of a request, or null if nothing is. */
  static @Nullable String ofBeginning(byte first) {
    if (first > ' ') {
      return null;
    }
    return first == TLS_HANDSHAKE
        ? "The connection begins with a TLS handshake, but this port expects plain HTTP; use http://."
        : FIRST_LINE;
  }

  /** Returns what is wrong with a first line, or null if nothing is. */
  static @Nullable String ofFirstLine(byte[] bytes, int length) {
    if (Arrays.equals(bytes, 0, length, CREATE, 0, CREATE.length)) {
      return null;
    }
    String line = new String(bytes, 0, length, ISO_8859_1);
    for (Fault fault : FIRST_LINE_FAULTS) {
      Matcher found = fault.pattern().matcher(line);
      if (found.find()) {
        String culprit = found.groupCount() == 0 ? " " : found.group(1);
        String hex = HexFormat.of().withUpperCase().toHexDigits((byte) culprit.charAt(0));
        return fault.message().replace("{}", culprit).replace("{hex}", hex);
      }
    }
    return null;
  }

  /** Returns what is wrong with the headers of a head that Netty accepts, or null if nothing is. */
  static @Nullable String ofHead(HttpRequest request) {
    HttpHeaders headers = request.headers();
    Iterator<String> hosts = headers.valueStringIterator(HttpHeaderNames.HOST);
    // An empty host is for targets without an authority (RFC 9110, section 4.2.1).
    boolean isHost =
        hosts.hasNext()
            ? HOST.matcher(hosts.next()).matches() && !hosts.hasNext()
            : request.protocolVersion().equals(HttpVersion.HTTP_1_0);
    if (!isHost) {
      return "The request must have one Host header with a host and possibly a port, and nothing"
          + " else in it.";
    }
    List<String> codings = headers.getAll(HttpHeaderNames.TRANSFER_ENCODING);
    boolean isChunkedOrNot =
        codings.isEmpty() || String.join(",", codings).equalsIgnoreCase("chunked");
    // Netty would expect a body of fixed length after this header of an obsolete protocol.
    return isChunkedOrNot && !headers.contains(HttpHeaderNames.SEC_WEBSOCKET_KEY1) ? null : LENGTH;
  }

  /**
   * Returns what an exception of Netty's decoder means, which {@code otherwise} says if unclear.
   */
  static String ofDecoder(Throwable cause, String otherwise) {
    if (otherwise.equals(TRAILERS) && cause instanceof TooLongHttpHeaderException) {
      return TRAILERS;
    }
    return String.valueOf(cause.getMessage()).contains("Content-Length")
        ? LENGTH
        : DECODER_FAULTS.getOrDefault(cause.getClass(), otherwise);
  }
}
