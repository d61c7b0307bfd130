package org.plantstore.adapter.http.connection;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What RFC 9112 demands of the head of a request, and the framework's decoder does not check. */
final class RequestHead {

  /** The target of nearly all requests. */
  private static final String PLANTS = "/plants";

  /** RFC 9112, section 3.2.2; a user in the address is refused (RFC 9110, section 4.2.4). */
  private static final Pattern ABSOLUTE_FORM =
      Pattern.compile("https?://([^/?#]+)(.*)", Pattern.CASE_INSENSITIVE);

  /** An address in brackets, or a name, and a port (RFC 3986, sections 3.2.2 and 3.2.3). */
  private static final Pattern HOST =
      Pattern.compile("(?:\\[[0-9A-Za-z:._~!$&'()*+,;=-]*]|([^\\[\\]:]*))(?::[0-9]{0,5})?");

  private static final String UNRESERVED_AND_DELIMITERS = "-._~!$&'()*+,;=";
  private static final BitSet OF_HOSTS = characters(UNRESERVED_AND_DELIMITERS);
  private static final BitSet OF_TARGETS = characters(UNRESERVED_AND_DELIMITERS + ":@/?");

  private RequestHead() {}

  /** Says whether version, Host, transfer coding and target are those of a request of HTTP/1.1. */
  static boolean isWellFormed(HttpRequest request) {
    boolean current = isVersion(request, HttpVersion.HTTP_1_1);
    if (!current && !isVersion(request, HttpVersion.HTTP_1_0)) {
      return false;
    }
    HttpHeaders headers = request.headers();
    List<String> hosts = headers.getAll(HttpHeaderNames.HOST);
    List<String> codings = headers.getAll(HttpHeaderNames.TRANSFER_ENCODING);
    return (hosts.size() == 1 ? isHost(hosts.get(0)) : hosts.isEmpty() && !current)
        && (codings.isEmpty()
            || (codings.size() == 1 && codings.get(0).equalsIgnoreCase("chunked")))
        && isTarget(request);
  }

  /**
   * Says whether the framework would take the method for another one: it overlooks the case, which
   * matters (RFC 9110, section 9.1).
   */
  static boolean isMistakable(HttpMethod method) {
    return !method.name().equals(method.name().toUpperCase(Locale.ROOT));
  }

  /**
   * Says whether the version is this one, to the letter (RFC 9112, section 2.3): the decoder
   * answers its constant for that, and an equal object for {@code http/1.1}.
   */
  @SuppressWarnings("ReferenceEquality")
  private static boolean isVersion(HttpRequest request, HttpVersion version) {
    return request.protocolVersion() == version;
  }

  private static boolean isHost(String host) {
    Matcher parts = HOST.matcher(host);
    return parts.matches() && (parts.group(1) == null || hasOnly(OF_HOSTS, parts.group(1)));
  }

  private static boolean isTarget(HttpRequest request) {
    String target = request.uri();
    if (target.equals(PLANTS)) {
      return true;
    }
    if (target.equals("*")) {
      return request.method().equals(HttpMethod.OPTIONS);
    }
    if (target.startsWith("/")) {
      return hasOnly(OF_TARGETS, target) && isUri(target);
    }
    Matcher parts = ABSOLUTE_FORM.matcher(target);
    return parts.matches()
        && isHost(parts.group(1))
        && hasOnly(OF_TARGETS, parts.group(2))
        && isUri(target);
  }

  /** The framework parses the target once more, with a parser that refuses some. */
  private static boolean isUri(String target) {
    try {
      new URI(target);
      return true;
    } catch (URISyntaxException e) {
      return false;
    }
  }

  private static boolean hasOnly(BitSet allowed, String text) {
    for (int index = 0; index < text.length(); index++) {
      char character = text.charAt(index);
      if (character == '%') {
        if (index + 2 >= text.length()
            || Character.digit(text.charAt(index + 1), 16) < 0
            || Character.digit(text.charAt(index + 2), 16) < 0) {
          return false;
        }
        index += 2;
      } else if (!allowed.get(character)) {
        return false;
      }
    }
    return true;
  }

  private static BitSet characters(String others) {
    BitSet characters = new BitSet();
    characters.set('0', '9' + 1);
    characters.set('A', 'Z' + 1);
    characters.set('a', 'z' + 1);
    others.chars().forEach(characters::set);
    return characters;
  }
}
