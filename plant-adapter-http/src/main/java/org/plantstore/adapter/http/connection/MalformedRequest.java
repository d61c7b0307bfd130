package org.plantstore.adapter.http.connection;

import io.netty.handler.codec.http.ContentLengthNotAllowedException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.InvalidChunkExtensionException;
import io.netty.handler.codec.http.InvalidChunkTerminationException;
import io.netty.handler.codec.http.InvalidLineSeparatorException;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.handler.codec.http.TransferEncodingNotAllowedException;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.Legible;

/**
 * The sentences of error 4005: what is wrong with a request, and how to correct it. They are
 * logged, so they quote nothing that may be a secret in the wrong place.
 */
final class MalformedRequest {

  private static final byte TLS_HANDSHAKE = 0x16; // RFC 8446, section 5.1

  private static final String BEGINNING =
      "The request must begin with its method; leave out what precedes it.";
  private static final String TLS =
      "The connection begins with a TLS handshake, but this port expects plain HTTP; use http://.";
  static final String TRAILERS =
      "A trailer of the body is malformed, or the trailers exceed 16 KiB; leave them out.";
  static final String FIRST_LINE =
      "The first line must have a method, a target and a version, with one space between them, such"
          + " as POST /plants HTTP/1.1.";
  static final String FOLDED = "A header continues on the next line; write it on one line.";

  private static final String CHUNK =
      "Each chunk must begin with its size in hexadecimal, at most 7FFFFFFF, possibly extensions,"
          + " and CR LF.";

  /** The exceptions of Netty's decoder that have a class of their own. */
  private static final Map<Class<?>, String> DECODER_FAULTS =
      Map.of(
          TooLongHttpLineException.class,
          "The first line, or the line before a chunk, exceeds 16 KiB; shorten it.",
          TooLongHttpHeaderException.class,
          "The headers exceed 16 KiB; shorten the token or the cookies.",
          InvalidLineSeparatorException.class,
          "Every line must end with CR LF, and contain neither of them elsewhere.",
          ContentLengthNotAllowedException.class,
          "The request has both Content-Length and Transfer-Encoding; send only one of them.",
          TransferEncodingNotAllowedException.class,
          "HTTP/1.0 has no Transfer-Encoding; send HTTP/1.1, or Content-Length instead.",
          InvalidChunkExtensionException.class,
          CHUNK,
          NumberFormatException.class,
          CHUNK,
          InvalidChunkTerminationException.class,
          "A chunk does not end where its size says; correct the size.");

  private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

  private MalformedRequest() {}

  static String ofHosts(List<String> hosts) {
    return "The request must have one Host header with a host and possibly a port, "
        + (hosts.size() == 1 ? "and nothing else in it." : "but has " + hosts.size() + ".");
  }

  /** Returns null if the body is only chunked, the one coding that is supported. */
  static @Nullable String ofTransferCodings(List<String> codings) {
    return String.join(",", codings).equalsIgnoreCase("chunked")
        ? null
        : "Transfer-Encoding must be chunked and nothing else, or absent.";
  }

  /** Returns what is wrong with the first byte of a request, or null if nothing is. */
  static @Nullable String ofBeginning(byte first) {
    return first > ' ' ? null : first == TLS_HANDSHAKE ? TLS : BEGINNING;
  }

  /**
   * Returns the explanation for an exception of Netty's decoder, or {@code otherwise} if its class
   * does not determine one.
   */
  static String ofDecoder(Throwable cause, String otherwise) {
    return otherwise.equals(TRAILERS) && cause instanceof TooLongHttpHeaderException
        ? TRAILERS
        : DECODER_FAULTS.getOrDefault(cause.getClass(), otherwise);
  }

  /**
   * Explains headers that Netty refuses.
   *
   * @param read the headers before the fault
   * @param refused the name of the header at fault, if it is not among them
   */
  static String ofHeaders(HttpHeaders read, @Nullable CharSequence refused) {
    if (refused != null && !refused.isEmpty()) {
      Matcher token = TOKEN.matcher(refused);
      int end = token.lookingAt() ? token.end() : 0;
      String name = '"' + Legible.of(refused.subSequence(0, end)) + '"';
      return end == refused.length()
          ? "The value of the header " + name + " contains a control character; remove it."
          : "The name of a header contains "
              + (refused.charAt(end) == ' ' ? "a space" : "a character that no name may have")
              + (end == 0 ? "; remove it." : ", after " + name + "; remove it.");
    }
    String lengths = String.join(", ", read.getAll(HttpHeaderNames.CONTENT_LENGTH));
    if (lengths.matches("[0-9]{19,}")) {
      return "Content-Length is too large; shorten the body.";
    }
    if (read.contains(HttpHeaderNames.CONTENT_LENGTH) && !lengths.matches("[0-9]{1,18}")) {
      return "Content-Length must be one decimal number"
          + (lengths.matches("[0-9, ]+") ? ", but is \"" + Legible.of(lengths) + "\"." : ".");
    }
    return "Each header must have a name, a colon and a value.";
  }
}
