package org.plantstore.adapter.http.connection;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.ServerTest;
import org.plantstore.adapter.http.observe.AllowedOrigins;

/** Malformed requests, which are answered like every other error. */
class BrokenHttpTest extends ServerTest {

  private static final String MALFORMED =
      "{\"error\":4005,\"message\":\"The request must be well-formed HTTP/1.1 (RFC 9112), with at most"
          + " 16 KiB for its first line, and as much for at most 100 headers.\"}";

  private static final String FIRST_LINE = "POST /plants HTTP/1.1";

  private static final String CHUNKED =
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nonsense", "POST http://[::9.9.9.9999999999]/ HTTP/1.1",
        "POST /plants", "POST /plants HTTP/1.1\nHost: x\n\n",
        "PRI * HTTP/2.0", "POST http://me@x/plants HTTP/1.1",
        "POST * HTTP/1.1", "POST /% HTTP/1.1",
        "POST http://[x]/plants HTTP/1.1", "POST http:///plants HTTP/1.1",
        "POST ?x HTTP/1.1", "POST ftp://x/plants HTTP/1.1",
        "POST /plants\u00E9 HTTP/1.1", "get /openapi.yaml HTTP/1.1",
        "POST /plants?a={} HTTP/1.1", "POST urn:plants HTTP/1.1",
        "POST /plants#x HTTP/1.1", "POST /plants http/1.1",
        "POST /plants HTTP/0.9", "post /plants HTTP/1.1",
        "CONNECT x:80 HTTP/1.1", "CONNECT / HTTP/1.1",
        "POST\t/plants HTTP/1.1", "POST /plants\u000BHTTP/1.1",
        "POST /plants\r\r HTTP/1.1", "POST  /plants HTTP/1.1",
        "POST /plants  HTTP/1.1", " POST /plants HTTP/1.1",
        "POST /plants HTTP/1.1 ", "\rPOST /plants HTTP/1.1",
        "\nPOST /plants HTTP/1.1", "\r\r\nPOST /plants HTTP/1.1",
        "\r\n\nPOST /plants HTTP/1.1", "\r\n\tPOST /plants HTTP/1.1",
        "\u0000POST /plants HTTP/1.1", "POST // HTTP/1.1",
        "POST /plants HTTP/one", "POST /plants HTTP/1.9",
        "POST /plants HTTP/1.0\r\nTransfer-Encoding: chunked"
      })
  void malformed_first_line_is_refused(String firstLine) throws IOException {
    String head = firstLine + "\r\nHost: x\r\n\r\n";
    assertMalformed(send(head));
    assertMalformed(send(head + createRequest("")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", "Host: x\r\nX-Folded: a\r\n\tTransfer-Encoding: chunked",
        "Host: ", "Host: x\r\nTransfer-Encoding: gzip, chunked",
        "Host: x%", "Host: x\r\nX-Folded: a\r\n b",
        "Host: a b", "Host: x\r\nX-Text: a\u0000b",
        "Host: x:y", "bro ken: header\r\nHost: x",
        "Host: user@x", "Host: x\r\nX-Text: a\rb",
        "Host: \u00E9", " X-Text: a\r\nHost: x",
        "Host: x/plants", "Host: x\r\nHost: x",
        "Host: x\u000B", "Host: x\r\nSec-WebSocket-Key1: 4 @1  46546xW%0l 1 5",
        "Host: x\r", "Host: x\r\nX-Text:\fa"
      })
  void malformed_headers_are_refused(String headers) throws IOException {
    String head = FIRST_LINE + "\r\n" + headers + "\r\n\r\n";
    assertMalformed(send(head));
    assertMalformed(send(head + createRequest("")));
  }

  @ParameterizedTest
  @CsvSource({
    "/plants, errors", "/plants/, ../errors", "/a/b?c=/d/e, ../errors",
    "/a/b/%, ../../errors", "http://x/a/b, ../errors", "http://x?a/b/c, errors"
  })
  void malformed_request_links_to_its_entry(String target, String catalogue) throws IOException {
    String answer = send("POST " + target + " HTTP/1.1\r\n\r\n");
    assertTrue(answer.contains("\r\nLink: <" + catalogue + "#4005>; rel=\"help\"\r\n"), answer);
  }

  @Test
  void malformed_head_is_refused_without_a_body() throws IOException {
    String answer = send("HEAD /plants HTTP/1.1\r\nHost: a b\r\n\r\n");

    assertMalformed(answer + MALFORMED);
    assertEquals(List.of(String.valueOf(MALFORMED.length())), headers(answer, "content-length"));
  }

  @Test
  void first_line_and_headers_are_read_up_to_a_limit() throws IOException {
    String within = "x".repeat(15 * 1024);
    String beyond = "x".repeat(17 * 1024);
    String longHeader = "Connection: close\r\nX-Long: ";

    assertMalformed(send(createRequest(longHeader + beyond + "\r\n")));
    assertMalformed(send(createRequest("").replace("/plants", "/plants?" + beyond)));
    String longest = createRequest(longHeader + within + "\r\n");
    assertEquals(List.of(200), statuses(send(longest.replace("/plants", "/plants?" + within))));
  }

  @Test
  void more_than_100_headers_are_refused() throws IOException {
    String headers = "Connection: close\r\n" + "X:\r\n".repeat(94);
    String chunked = chunkedRequest("Connection: close\r\n", "0\r\n" + "X:\r\n".repeat(100));
    assertMalformed(send(createRequest(headers + "X:\r\n".repeat(2))));
    assertMalformed(send(chunked + "X:\r\n\r\n"));

    assertEquals(List.of(200), statuses(send(createRequest(headers + "X:\r\n"))));
    assertEquals(List.of(200), statuses(send(chunked + "\r\n")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\n", "0;a=\r\n\r\n", "0;a=\"b\"c\r\n\r\n",
        "\r\n", "0;a\nb\r\n\r\n", "0;a=\"b\"\r\r\n\r\n",
        "0\n\n", "zz\r\n", " 0\r\n\r\n",
        "0;a=\u00E9\r\n\r\n", "-1\r\n", "0 \r\n\r\n",
        "0;a=\"b\\\"\r\n\r\n", "fffffffffffffffff\r\n", "100000000;a\r\n",
        "0;a=\"\u0001\"\r\n\r\n", "0;a=\"b\r\n\r\n", "0\r\nX: a\u000B\r\n\r\n",
        "0\r\r\n\r\n", "0\u00A0;a\r\n\r\n", "5\r\n     zz\r\n0\r\n\r\n",
        "0x0\r\n\r\n", "+0\r\n\r\n", "0\r\nbroken trailer\u0000\r\n: x\r\n\r\n"
      })
  void body_whose_framing_breaks_creates_nothing(String rest) throws IOException {
    assertMalformed(send(chunkedRequest("Connection: close\r\n", rest)));
  }

  /** A body that can be read in two ways must not be read as a second request. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Length: ", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Content-Length: +5", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Content-Length: -5", "Transfer-Encoding: chunked\r\nTransfer-Encoding: ",
        "Content-Length: 0x5", "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Content-Length: 5 5", "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: ", "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5, 5", "Content-Length: 5\r\nContent-Length: 5",
        "Transfer-Encoding: gzip", "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: xchunked", "Content-Length: 99999999999999999999",
        "Transfer-Encoding: identity", "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding : chunked", "Transfer-Encoding: \u000bchunked",
        "Transfer-Encoding: chunked;q=1", "Transfer-Encoding:\r\n chunked"
      })
  void body_of_doubtful_length_ends_the_connection(String length) throws IOException {
    String smuggled = createRequest("");

    assertMalformed(send(head(FIRST_LINE, length + "\r\n") + "0\r\n\r\n" + smuggled));
    assertMalformed(send(head("GET / HTTP/1.1", length + "\r\n") + "0\r\n\r\n" + smuggled));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\r\n\rGET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "\r\n\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /\u000B HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nX-Folded: a\r\n b\r\nX: y\r\n\r\n",
        CHUNKED + "1\r\na\r\n2;a=\r\nbc\r\n0\r\n\r\n"
      })
  void malformed_request_is_found_in_any_segments(String request) {
    for (int cut = 0; cut < request.length(); cut++) {
      assertFalse(isWellFormed(request, cut), "cut at " + cut);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n\r \n\r\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
        CHUNKED + "2;a=b;c\r\n\r\r\r\n004;a=\"b c\"\r\n\n 9;\r\n0;b\r\nX: y\r\n\r\n\r\n" + CHUNKED
      })
  void well_formed_requests_are_read_in_any_segments(String requests) {
    for (int cut = 0; cut < requests.length(); cut++) {
      assertTrue(isWellFormed(requests, cut), "cut at " + cut);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "\r", "\r\n", "\n", ":", "\u0000", "0\r\n\r\n", "\r\nContent-Length: 5\r\n"})
  void changed_request_has_a_defined_answer_or_none(String piece) throws IOException {
    for (String request : List.of(chunkedRequest("", "0\r\n\r\n"), createRequest(""))) {
      for (int at = 0; at < request.length(); at++) {
        String changed = request.substring(0, at) + piece + request.substring(at + 1);
        List<Integer> statuses = statuses(sendAndShutDown(changed + createRequest("")));
        assertTrue(Set.of(200, 400, 401, 404, 405).containsAll(statuses), changed);
      }
    }
    assertEquals(200, post(FERN).status());
  }

  /** Closes its own side, because a changed request may be incomplete. */
  private String sendAndShutDown(String requests) throws IOException {
    ByteArrayOutputStream answers = new ByteArrayOutputStream();
    try (Socket socket = connect()) {
      write(socket, requests);
      socket.shutdownOutput();
      socket.getInputStream().transferTo(answers);
    } catch (SocketException e) {
      // Reset after a broken request.
    }
    return answers.toString(ISO_8859_1);
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
    assertTrue(answer.matches("(?s)HTTP/1\\.[01] 400 Bad Request\r\n.*"), answer);
    assertEquals(List.of("application/json"), headers(answer, "content-type"), answer);
    assertEquals(List.of("no-store"), headers(answer, "cache-control"), answer);
    assertEquals(1, headers(answer, "date").size(), answer);
    assertEquals(List.of("nosniff"), headers(answer, "x-content-type-options"), answer);
    assertTrue(answer.matches("(?si).*\nx-request-id: [0-9a-f]{32}\r\n.*"), answer);
    assertTrue(answer.endsWith("\r\n\r\n" + MALFORMED), answer);
    assertEquals(0, createPlant.calls());
  }
}
