package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.micronaut.runtime.server.EmbeddedServer;
import java.io.IOException;
import java.net.Socket;
import java.util.List;
import java.util.regex.Pattern;

/** Sends bytes that no client would. */
final class RawConnection {

  private static final int TIMEOUT_MILLIS = 20_000;

  private RawConnection() {}

  /** Answers everything that the server sends until it closes the connection. */
  static String send(EmbeddedServer server, String bytes) throws IOException {
    try (Socket socket = new Socket(server.getHost(), server.getPort())) {
      socket.setSoTimeout(TIMEOUT_MILLIS);
      socket.getOutputStream().write(bytes.getBytes(ISO_8859_1));
      socket.getOutputStream().flush();
      return new String(socket.getInputStream().readAllBytes(), ISO_8859_1);
    }
  }

  /** Sends the start of a request, and goes away. */
  static void leave(EmbeddedServer server, String bytes) throws IOException {
    try (Socket socket = new Socket(server.getHost(), server.getPort())) {
      socket.getOutputStream().write(bytes.getBytes(ISO_8859_1));
      socket.getOutputStream().flush();
    }
  }

  /** Answers a create of a valid plant, with more lines in its head. */
  static String create(String lines) {
    String body = "{\"id\":1,\"name\":\"fern\"}";
    return "POST /plants HTTP/1.1\r\nHost: x\r\n"
        + lines
        + "Authorization: Bearer "
        + Tokens.valid()
        + "\r\nContent-Type: application/json\r\nContent-Length: "
        + body.length()
        + "\r\n\r\n"
        + body;
  }

  /** Answers what several answers have in their headers of one name, in their order. */
  static List<String> headers(String answers, String name) {
    return Pattern.compile("(?im)^" + name + ": (.*?)\r?$")
        .matcher(answers)
        .results()
        .map(header -> header.group(1))
        .toList();
  }

  /** Answers the statuses of several answers, in their order. */
  static List<Integer> statuses(String answers) {
    return Pattern.compile("HTTP/1\\.1 (\\d{3}) ")
        .matcher(answers)
        .results()
        .map(answer -> Integer.valueOf(answer.group(1)))
        .toList();
  }
}
