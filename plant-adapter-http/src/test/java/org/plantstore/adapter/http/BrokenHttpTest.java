package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.context.annotation.Property;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import jakarta.inject.Inject;
import java.io.IOException;
import java.net.Socket;
import java.util.Locale;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bytes that are no request: they are answered like every other error. */
@MicronautTest
@Property(name = "jwt.secret", value = Tokens.SECRET)
class BrokenHttpTest {

  private static final String MALFORMED =
      "{\"error\":4005,\"message\":\"The request must be well-formed HTTP/1.1, with a head of at most"
          + " 16 KiB.\"}";

  @Inject EmbeddedServer server;
  @Inject FakeCreatePlant createPlant;

  @BeforeEach
  void reset() {
    createPlant.reset();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nonsense\r\n\r\n",
        "POST /plants\r\n\r\n",
        "POST /plants HTTP/one\r\n\r\n",
        "POST /plants HTTP/1.1\r\nbro ken: header\r\nHost: x\r\n\r\n",
        "POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: one\r\n\r\n"
      })
  void malformed_head_is_refused(String head) throws IOException {
    assertMalformed(send(head));
  }

  @Test
  void head_beyond_the_limit_is_refused() throws IOException {
    String long17KiB = "x".repeat(17 * 1024);
    assertMalformed(send("POST /plants HTTP/1.1\r\nHost: x\r\nX-Long: " + long17KiB + "\r\n\r\n"));
    assertMalformed(send("POST /plants?" + long17KiB + " HTTP/1.1\r\nHost: x\r\n\r\n"));
  }

  @Test
  void head_within_the_limit_is_read() throws IOException {
    String body = "{\"id\":1,\"name\":\"fern\"}";
    String answer =
        send(
            "POST /plants HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Long: "
                + "x".repeat(15 * 1024)
                + "\r\nAuthorization: Bearer "
                + Tokens.valid()
                + "\r\nContent-Type: application/json\r\nContent-Length: "
                + body.length()
                + "\r\n\r\n"
                + body);

    assertTrue(answer.startsWith("HTTP/1.1 200 OK\r\n"), answer);
    assertTrue(answer.endsWith("\r\n\r\n{\"name\":\"fern\"}"), answer);
  }

  private void assertMalformed(String answer) {
    assertTrue(answer.matches("(?s)HTTP/1\\.[01] 400 Bad Request\r\n.*"), answer);
    assertTrue(
        answer.toLowerCase(Locale.ROOT).contains("\r\ncontent-type: application/json\r\n"), answer);
    assertTrue(answer.endsWith("\r\n\r\n" + MALFORMED), answer);
    assertEquals(0, createPlant.calls());
  }

  private String send(String request) throws IOException {
    try (Socket socket = new Socket(server.getHost(), server.getPort())) {
      socket.setSoTimeout(20_000);
      socket.getOutputStream().write(request.getBytes(ISO_8859_1));
      socket.getOutputStream().flush();
      return new String(socket.getInputStream().readAllBytes(), ISO_8859_1);
    }
  }
}
