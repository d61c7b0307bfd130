package org.plantstore.adapter.http.connection;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpObject;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.ServerTest;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.observe.AllowedOrigins;

/** Malformed requests, which are answered like every other error. */
class BrokenHttpTest extends ServerTest {

  private static final String MALFORMED =
      "{\"error\":4005,\"message\":\"" + ErrorNumber.MALFORMED_REQUEST.description() + "\"}";

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

  @Test
  void head_and_trailers_are_read_up_to_their_limits() throws IOException {
    String within = "x".repeat(15 * 1024);
    String beyond = "x".repeat(17 * 1024);
    String close = "Connection: close\r\n";
    String headers = close + "X:\r\n".repeat(94);
    String chunked = chunkedRequest(close, "0\r\n" + "X:\r\n".repeat(100));
    assertMalformed(send(createRequest("X-Long: " + beyond + "\r\n")));
    assertMalformed(send(createRequest("").replace("/plants", "/plants?" + beyond)));
    assertMalformed(send(createRequest(headers + "X:\r\n".repeat(2))));
    assertMalformed(send(chunked + "X:\r\n\r\n"));

    String longest = createRequest(close + "X-Long: " + within + "\r\n");
    assertEquals(List.of(200), statuses(send(longest.replace("/plants", "/plants?" + within))));
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
  void body_whose_framing_breaks_creates_nothing(String rest) throws IOException {
    assertMalformed(send(chunkedRequest("", rest) + createRequest("")));
  }

  /** A body that can be read in two ways must not be read as a second request. */
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
  void body_of_doubtful_length_ends_the_connection(String length) throws IOException {
    for (String firstLine : List.of(FIRST_LINE, "GET / HTTP/1.1")) {
      String doubtful = head(firstLine, length + "\r\n") + "0\r\n\r\n";
      assertMalformed(send(doubtful + createRequest("")));
    }
  }

  /** Whether each is well-formed as a whole, the other tests show. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "\r\n\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nX-Folded: a\r\n b\r\nX: y\r\n\r\n",
        CHUNKED + "1\r\na\r\n2;a=\r\nbc\r\n0\r\n\r\n",
        CHUNKED + "2;a=b;c\r\n\r\r\r\n4;a=\"b c\"\r\n\n 9;\r\n0;b\r\nX: y\r\n\r\n\r\n" + CHUNKED
      })
  void request_is_read_alike_in_any_segments(String request) {
    for (int cut = 1; cut < request.length(); cut++) {
      assertEquals(isWellFormed(request, 0), isWellFormed(request, cut), "cut at " + cut);
    }
  }

  /** Returns whether requests are well-formed that are sent in two segments. */
  private static boolean isWellFormed(String requests, int cut) {
    RequestSequence sequence = new RequestSequence(() -> false, AllowedOrigins.NONE, ended -> {});
    EmbeddedChannel channel = new EmbeddedChannel(sequence.decoder());
    channel.writeInbound(Unpooled.copiedBuffer(requests.substring(0, cut), ISO_8859_1));
    channel.writeInbound(Unpooled.copiedBuffer(requests.substring(cut), ISO_8859_1));
    return channel.inboundMessages().stream()
        .allMatch(part -> ((HttpObject) part).decoderResult().isSuccess());
  }

  private void assertMalformed(String answer) {
    assertTrue(answer.matches("HTTP/1\\.[01] 400 Bad Request\r\n(?s:.*)"), answer);
    assertTrue(answer.endsWith("\r\n\r\n" + MALFORMED), answer);
    assertEquals(List.of("application/json"), headers(answer, "content-type"), answer);
    assertEquals(List.of("no-store"), headers(answer, "cache-control"), answer);
    assertEquals(List.of("nosniff"), headers(answer, "x-content-type-options"), answer);
    assertEquals(1, headers(answer, "date").size(), answer);
    assertEquals(1, headers(answer, "x-request-id").size(), answer);
    assertEquals(0, createPlant.calls());
  }
}
