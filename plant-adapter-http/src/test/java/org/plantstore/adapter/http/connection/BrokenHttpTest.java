package org.plantstore.adapter.http.connection;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.spi.ILoggingEvent;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpObject;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.Log;
import org.plantstore.adapter.http.ServerTest;
import org.plantstore.adapter.http.error.ErrorNumber;

/** Malformed requests, which receive the same kind of response as every other error. */
class BrokenHttpTest extends ServerTest {

  private static final String MALFORMED = "(?s).*\r\n\r\n\\{\"error\":4005,\"message\":\"(.*)\"}";

  private static final String FIRST_LINE = "POST /plants HTTP/1.1";

  private static final String CHUNKED =
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nonsense", "POST http://[::9.9.9.9999999999]/ HTTP/1.1",
        "POST /plants", "POST /plants HTTP/1.1\nHost: x\n\n",
        "PRI * HTTP/2.0", "POST http://me@x/plants HTTP/1.1",
        "POST * HTTP/1.1", "POST http:///plants HTTP/1.1",
        "POST /% HTTP/1.1", "POST ftp://x/plants HTTP/1.1",
        "CONNECT x:80 HTTP/1.1", "POST /plants#x HTTP/1.1",
        "POST /plants\u00E9 HTTP/1.1", "post /plants HTTP/1.1",
        "POST /plants  HTTP/1.1", "POST\t/plants HTTP/1.1",
        "POST /plants HTTP/1.1 ", "\rPOST /plants HTTP/1.1",
        " POST /plants HTTP/1.1", "\r\n\nPOST /plants HTTP/1.1",
        "POST /plants HTTP/1.9", "POST /plants HTTP/1.0\r\nTransfer-Encoding: chunked"
      })
  void malformed_first_line_is_refused(String firstLine) throws IOException {
    assertMalformed(send(firstLine + "\r\nHost: x\r\n\r\n" + createRequest("")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", "Host: x\r\nX-Folded: a\r\n b",
        "Host: ", "Host: x\r\nX-Folded: a\r\n\tTransfer-Encoding: chunked",
        "Host: x%", "Host: x\r\nX-Text: a\u0000b",
        "Host: a b", "Host: x\r\nX-Text: a\rb",
        "Host: x:y", "Host: x\r\nX-Text:\fa",
        "Host: user@x", "bro ken: header\r\nHost: x",
        "Host: \u00E9", " X-Text: a\r\nHost: x",
        "Host: x\u000B", "Host: x\r\nHost: x",
        "Host: x\r", "Host: x\r\nSec-WebSocket-Key1: 4 @1  46546xW%0l 1 5"
      })
  void malformed_headers_are_refused(String headers) throws IOException {
    assertMalformed(send(FIRST_LINE + "\r\n" + headers + "\r\n\r\n" + createRequest("")));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          GET /a b HTTP/1.1        | The target contains a space; encode it as %20.
          GET /a[0] HTTP/1.1       | The target contains the character '['; encode it as %5B, or remove it.
          GET /a"b HTTP/1.1        | The target contains the character '"'; encode it as %22, or remove it.
          GET /50%?a=% HTTP/1.1    | The target contains the character '%'; encode it as %25, or remove it.
          GET /?a#b HTTP/1.1       | The target contains the character '#'; encode it as %23, or remove it.
          GET /?\u00e9 HTTP/1.1    | The target contains the byte 0xE9; encode it as %E9, or remove it.
          GET plants HTTP/1.1      | The target must begin with / or be an http URL without a user name, such as http://host:80/path, but is "plants".
          GET  /plants HTTP/1.1    | The first line must consist of a method, a target, and a version, separated by single spaces, such as POST /plants HTTP/1.1.
          GET localhost:80/a HTTP/1.1 | The target must begin with / or be an http URL without a user name, such as http://host:80/path, but is "localhost:80/a".
          GET x:s3cr3t HTTP/1.1    | The target must begin with / or be an http URL without a user name, such as http://host:80/path.
          GET http://s3@x/ HTTP/1.1 | The target must begin with / or be an http URL without a user name, such as http://host:80/path.
          P@ST / HTTP/1.1          | The method must be in capital letters, as in POST.
          P\u00e9ST / HTTP/1.1     | The method must be in capital letters, as in POST.
          "GET" / HTTP/1.1         | The method must be in capital letters, as in POST.
          GET/ / HTTP/1.1          | The method must be in capital letters, as in POST, but is "GET/".
          GET / HTTPS/1.1          | The version must be HTTP/1.1 or HTTP/1.0, but is "HTTPS/1.1".
          GET /\ta HTTP/1.1        | The target contains the byte 0x09; encode it as %09, or remove it.
          GET /\u007fa HTTP/1.1    | The target contains the byte 0x7F; encode it as %7F, or remove it.
          GET / HTTP/1.1&Content-Length: 99999999999999999999 | The length of the body is invalid or ambiguous; specify it once, either with a Content-Length of at most 18 digits or, in HTTP/1.1, with Transfer-Encoding: chunked.
          get /plants HTTP/1.1     | The method must be in capital letters, as in POST, but is "get".
          PRI * HTTP/2.0           | The version must be HTTP/1.1 or HTTP/1.0, but is "HTTP/2.0".
          CONNECT x:80 HTTP/1.1    | The target must begin with / or be an http URL without a user name, such as http://host:80/path, but is "x:80".
          &GET / HTTP/1.1          | The first line must consist of a method, a target, and a version, separated by single spaces, such as POST /plants HTTP/1.1.
          TLS                      | The connection begins with a TLS handshake, but this port does not use TLS; use http:// instead of https://.
          GET / HTTP/1.1&Host: y   | The request must have exactly one Host header that contains only a host and an optional port.
          s3cr3tfff / HTTP/1.1    | The method must be in capital letters, as in POST.
          GET / HTTP/1.1&Authorization Bearer s3: a | A header is malformed; write each header on one line as a name without spaces, a colon, and a value without control characters.
          GET / HTTP/1.1&Authorization=Bearer s3: a | A header is malformed; write each header on one line as a name without spaces, a colon, and a value without control characters.
          GET / HTTP/1.1&(s3): a   | A header is malformed; write each header on one line as a name without spaces, a colon, and a value without control characters.
          GET / HTTP/1.1&: s3      | A header is malformed; write each header on one line as a name without spaces, a colon, and a value without control characters.
          GET / HTTP/1.1&Content-Length: s3     | The length of the body is invalid or ambiguous; specify it once, either with a Content-Length of at most 18 digits or, in HTTP/1.1, with Transfer-Encoding: chunked.
          GET / HTTP/1.1&Transfer-Encoding: s3  | The length of the body is invalid or ambiguous; specify it once, either with a Content-Length of at most 18 digits or, in HTTP/1.1, with Transfer-Encoding: chunked.
          GET / HTTP/1.1&X: a& b   | A header is malformed; write each header on one line as a name without spaces, a colon, and a value without control characters.
          GET / HTTP/1.1&X         | A header is malformed; write each header on one line as a name without spaces, a colon, and a value without control characters.
          GET / HTTP/1.1&Content-Length: 1&X | A header is malformed; write each header on one line as a name without spaces, a colon, and a value without control characters.
          GET / HTTP/1.1&X : a     | A header is malformed; write each header on one line as a name without spaces, a colon, and a value without control characters.
          GET / HTTP/1.1&X: \u0001b | A header is malformed; write each header on one line as a name without spaces, a colon, and a value without control characters.
          GET / HTTP/1.1&Content-Length: 1&Content-Length: 2 | The length of the body is invalid or ambiguous; specify it once, either with a Content-Length of at most 18 digits or, in HTTP/1.1, with Transfer-Encoding: chunked.
          GET / HTTP/1.1&Transfer-Encoding: gzip, chunked    | The length of the body is invalid or ambiguous; specify it once, either with a Content-Length of at most 18 digits or, in HTTP/1.1, with Transfer-Encoding: chunked.
          GET / HTTP/1.0&Transfer-Encoding: chunked          | The length of the body is invalid or ambiguous; specify it once, either with a Content-Length of at most 18 digits or, in HTTP/1.1, with Transfer-Encoding: chunked.
          GET / HTTP/1.1&Content-Length: 1&Transfer-Encoding: chunked | The length of the body is invalid or ambiguous; specify it once, either with a Content-Length of at most 18 digits or, in HTTP/1.1, with Transfer-Encoding: chunked.
          """)
  void message_describes_the_fault_and_the_remedy(String lines, String message) throws IOException {
    String head =
        lines.replace("&GET", "\nGET").replace("&", "\r\n").replace("TLS", "\u0016\u0003");
    assertEquals(message, assertMalformed(send(head + "\r\nHost: x\r\n\r\n")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"user:s3@h", "h/?token=s3", "Bearer s3"})
  void host_that_may_contain_a_secret_is_not_quoted(String host) throws IOException {
    assertEquals(
        "The request must have exactly one Host header that contains only a host and an optional"
            + " port.",
        assertMalformed(send(FIRST_LINE + "\r\nHost: " + host + "\r\n\r\n")));
  }

  /**
   * A slower check would allow a caller without a token to occupy the event loops. The line is so
   * long that checking it in quadratic time would take hours.
   */
  @ParameterizedTest
  @ValueSource(strings = {" ", "a ", " HTTP/", "%", "/", "[", "#", "http://x", "\u00e9"})
  void time_to_check_a_first_line_is_proportional_to_its_length(String part) {
    String target = "/a" + part.repeat(4 * 1024 * 1024 / part.length()) + "\u00e9";
    byte[] line = ("GET " + target + " HTTP/1.1").getBytes(ISO_8859_1);
    assertTimeoutPreemptively(
        Duration.ofMinutes(1),
        () -> assertNotNull(MalformedRequest.ofRequestLine(line, line.length)));
  }

  /** Repeats the request, because another test may already have logged a line in this second. */
  @Test
  void refusals_are_logged_at_most_once_per_second() throws IOException {
    long start = System.nanoTime();
    try (Log log = new Log("org.plantstore.adapter.http.ErrorResponses")) {
      for (int sent = 0; sent < 50 || log.await(0).isEmpty(); sent++) {
        send("GET /a b HTTP/1.1\r\n\r\n");
      }
      List<ILoggingEvent> lines = log.await(1);
      assertEquals(
          "A request was rejected with error 4005: The target contains a space; encode it as %20.",
          lines.get(0).getFormattedMessage());
      long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
      assertTrue(lines.size() <= seconds + 2, lines::toString);
    }
  }

  @Test
  void head_and_trailers_are_accepted_up_to_their_limits() throws IOException {
    String within = "x".repeat(15 * 1024);
    String beyond = "x".repeat(17 * 1024);
    String close = "Connection: close\r\n";
    String headers = close + "X:\r\n".repeat(94);
    String chunked = chunkedRequest(close, "0\r\n" + "X:\r\n".repeat(100));
    assertEquals(
        "The headers are larger than 16 KiB in total; shorten the token or the cookies.",
        assertMalformed(send(createRequest("X-Long: " + beyond + "\r\n"))));
    assertEquals(
        "The first line is longer than 16 KiB; shorten it.",
        assertMalformed(send(createRequest("").replace("/plants", "/plants?" + beyond))));
    String tooMany = "The request has more than 100 headers or trailers; remove some.";
    assertEquals(tooMany, assertMalformed(send(createRequest(headers + "X:\r\n".repeat(2)))));
    assertEquals(tooMany, assertMalformed(send(chunked + "X:\r\n\r\n")));
    String malformedBody =
        "The chunked body is malformed, or its trailers are larger than 16 KiB. Omit"
            + " trailers, and send each chunk in this form: its size in hexadecimal (at most"
            + " 7FFFFFFF), CR LF, its bytes, CR LF.";
    String trailer = "0\r\nX: " + beyond;
    String extension = "0;a=" + beyond + "\r\n";
    for (String rest :
        List.of("7fffffffffffffff", "FFFFFFFFFFFFFFFFF", "80000000", trailer, extension)) {
      assertEquals(malformedBody, assertMalformed(send(chunkedRequest("", rest + "\r\n\r\n"))));
    }

    String longest = createRequest(close + "X-Long: " + within + "\r\n");
    assertEquals(List.of(200), statuses(send(longest.replace("/plants", "/plants?" + within))));
    String escaped = longest.replace("/plants", "/" + "%41".repeat(5_000));
    assertEquals(List.of(404), statuses(send(escaped)));
    assertEquals(List.of(200), statuses(send(createRequest(headers + "X:\r\n"))));
    assertEquals(List.of(200), statuses(send(chunked + "\r\n")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\n", "0;a=\r\n\r\n", "0;a=\"b\"c\r\n\r\n",
        "\r\n", "0;a\nb\r\n\r\n", "0;a=\"\u0001\"\r\n\r\n",
        "0\n\n", "zz\r\n", "0\r\nX: a\u000B\r\n\r\n",
        "-1\r\n", " 0\r\n\r\n", "fffffffffffffffff\r\n",
        "0x0\r\n\r\n", "0\r\r\n\r\n", "5\r\n     zz\r\n0\r\n\r\n"
      })
  void body_with_malformed_chunks_creates_nothing(String rest) throws IOException {
    assertMalformed(send(chunkedRequest("", rest) + createRequest("")));
  }

  /** If the length of a body is ambiguous, its rest must not be interpreted as another request. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Length: ", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Content-Length: +5", "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Content-Length: -5", "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Content-Length: 5, 5", "Content-Length: 5\r\nContent-Length: 6",
        "Transfer-Encoding: ", "Content-Length: 99999999999999999999",
        "Transfer-Encoding: xchunked", "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: identity", "Transfer-Encoding: \u000bchunked",
        "Transfer-Encoding : chunked", "Transfer-Encoding:\r\n chunked"
      })
  void ambiguous_body_length_closes_the_connection(String length) throws IOException {
    for (String firstLine : List.of(FIRST_LINE, "GET / HTTP/1.1")) {
      String ambiguous = head(firstLine, length + "\r\n") + "0\r\n\r\n";
      assertMalformed(send(ambiguous + createRequest("")));
    }
  }

  /** Other tests show whether each of these requests is well-formed as a whole. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "\r\n\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nX-Folded: a\r\n b\r\nX: y\r\n\r\n",
        CHUNKED + "1\r\na\r\n2;a=\r\nbc\r\n0\r\n\r\n",
        CHUNKED + "2;a=b;c\r\n\r\r\r\n4;a=\"b c\"\r\n\n 9;\r\n0;b\r\nX: y\r\n\r\n\r\n" + CHUNKED
      })
  void segmentation_does_not_change_how_a_request_is_read(String request) {
    for (int cut = 1; cut < request.length(); cut++) {
      assertEquals(isWellFormed(request, 0), isWellFormed(request, cut), "cut at " + cut);
    }
  }

  /** Returns whether requests are accepted as well-formed when they are sent in two segments. */
  private static boolean isWellFormed(String requests, int cut) {
    EmbeddedChannel channel = new EmbeddedChannel();
    RequestMemory memory = new RequestMemory(1);
    SlowClients slowClients = new SlowClients(channel.eventLoop(), memory, 1, 1);
    channel.pipeline().addLast(new RequestDecoder(new Connection(channel, slowClients)));
    channel.writeInbound(Unpooled.copiedBuffer(requests.substring(0, cut), ISO_8859_1));
    channel.writeInbound(Unpooled.copiedBuffer(requests.substring(cut), ISO_8859_1));
    return channel.inboundMessages().stream()
        .allMatch(part -> ((HttpObject) part).decoderResult().isSuccess());
  }

  /** Returns the message of the response, which must be more specific than the description. */
  private String assertMalformed(String answer) {
    assertTrue(answer.matches("HTTP/1\\.[01] 400 Bad Request\r\n(?s:.*)"), answer);
    assertTrue(answer.matches(MALFORMED), answer);
    String message = answer.replaceFirst(MALFORMED, "$1").replace("\\\"", "\"");
    assertNotEquals(ErrorNumber.MALFORMED_REQUEST.description(), message);
    assertEquals(List.of("application/json"), headers(answer, "content-type"), answer);
    assertEquals(List.of("no-store"), headers(answer, "cache-control"), answer);
    assertEquals(List.of("nosniff"), headers(answer, "x-content-type-options"), answer);
    assertEquals(1, headers(answer, "date").size(), answer);
    assertEquals(1, headers(answer, "x-request-id").size(), answer);
    assertEquals(0, createPlant.calls());
    return message;
  }
}
