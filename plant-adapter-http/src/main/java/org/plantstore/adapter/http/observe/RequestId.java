package org.plantstore.adapter.http.observe;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What a request is called in its answer and in the log: as its sender says in the header {@code
 * X-Request-Id}, if that is well formed, and else by a name that no other request has. Safe for use
 * by many threads.
 */
final class RequestId {

  /** The header that carries it, in a request and in its answer. */
  static final AsciiString HEADER = AsciiString.cached("X-Request-Id");

  private static final int MAX_CHARACTERS = 64;

  private static final HexFormat HEX = HexFormat.of();

  /** Tells this process from all others. */
  private static final String PROCESS = HEX.toHexDigits(new SecureRandom().nextLong());

  private static final AtomicLong NEXT = new AtomicLong(new SecureRandom().nextLong());

  private RequestId() {}

  /** Answers what a request with these headers is called. */
  static String of(HttpHeaders headers) {
    String sent = headers.get(HEADER);
    boolean isUsable = sent != null && isWellFormed(sent) && headers.getAll(HEADER).size() == 1;
    return isUsable ? sent : make();
  }

  /** It goes into log lines as it is, so it must be nothing but a short word. */
  private static boolean isWellFormed(String id) {
    return !id.isEmpty()
        && id.length() <= MAX_CHARACTERS
        && id.chars().allMatch(RequestId::isAllowed);
  }

  private static boolean isAllowed(int character) {
    return (character >= 'a' && character <= 'z')
        || (character >= 'A' && character <= 'Z')
        || (character >= '0' && character <= '9')
        || character == '.'
        || character == '_'
        || character == '-';
  }

  /** Answers 32 hexadecimal digits, which no other call does. */
  static String make() {
    return PROCESS + HEX.toHexDigits(scramble(NEXT.getAndIncrement()));
  }

  /**
   * The last step of SplitMix64: different numbers stay different, and people can tell the ids of
   * neighbours apart.
   */
  private static long scramble(long number) {
    long scrambled = (number ^ (number >>> 30)) * 0xbf58476d1ce4e5b9L;
    scrambled = (scrambled ^ (scrambled >>> 27)) * 0x94d049bb133111ebL;
    return scrambled ^ (scrambled >>> 31);
  }
}
