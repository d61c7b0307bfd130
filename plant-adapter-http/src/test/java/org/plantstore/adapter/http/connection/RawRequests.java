package org.plantstore.adapter.http.connection;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.micronaut.runtime.server.EmbeddedServer;
import java.io.IOException;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Pattern;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.adapter.http.tls.TestCertificate;

/** Requests as bytes on a connection of their own, as no HTTP library would send them. */
public final class RawRequests {

  public static final String FERN = "{\"id\":1,\"name\":\"fern\"}";

  private static final int TIMEOUT_MILLIS = 20_000;

  private RawRequests() {}

  /** Opens a connection on which waiting for an answer ends after a while. */
  public static Socket connect(EmbeddedServer server) throws IOException {
    Socket socket =
        server.getScheme().equals("https")
            ? TestCertificate.trust()
                .getSocketFactory()
                .createSocket(server.getHost(), server.getPort())
            : new Socket(server.getHost(), server.getPort());
    socket.setSoTimeout(TIMEOUT_MILLIS);
    return socket;
  }

  public static void write(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(ISO_8859_1));
  }

  /** Returns all that comes until the server closes the connection. */
  public static String readAll(Socket socket) throws IOException {
    return new String(socket.getInputStream().readAllBytes(), ISO_8859_1);
  }

  /** Returns as many bytes as the expected text has, or fewer if the server closes. */
  public static String read(Socket socket, String expected) throws IOException {
    return new String(socket.getInputStream().readNBytes(expected.length()), ISO_8859_1);
  }

  /** Sends the requests, and returns all that comes until the server closes the connection. */
  public static String send(EmbeddedServer server, String requests) throws IOException {
    try (Socket socket = connect(server)) {
      write(socket, requests);
      return readAll(socket);
    }
  }

  /** Sends a request, and resets the connection as soon as the request is being worked on. */
  public static void abandon(EmbeddedServer server, String request, CountDownLatch begun)
      throws IOException, InterruptedException {
    try (Socket socket = connect(server)) {
      write(socket, request);
      begun.await();
      socket.setSoLinger(true, 0);
    }
  }

  /** Returns a create of a fern with a valid token and further lines of the head. */
  public static String createRequest(String headers) {
    return createRequest(headers, FERN);
  }

  /** Returns a create with a valid token and further lines of the head. */
  public static String createRequest(String headers, String body) {
    return head("POST /plants HTTP/1.1", headers + "Content-Length: " + body.length() + "\r\n")
        + body;
  }

  /** Returns a create whose first chunk is a fern, followed by the rest. */
  public static String chunkedRequest(String headers, String rest) {
    return head("POST /plants HTTP/1.1", headers + "Transfer-Encoding: chunked\r\n")
        + Integer.toHexString(FERN.length())
        + "\r\n"
        + FERN
        + "\r\n"
        + rest;
  }

  /** Returns a head with a valid token and further lines, to which a body belongs. */
  public static String head(String firstLine, String headers) {
    return firstLine
        + "\r\nHost: x\r\nAuthorization: Bearer "
        + Tokens.valid()
        + "\r\nContent-Type: application/json\r\n"
        + headers
        + "\r\n";
  }

  /** Returns the status of each answer, in order. */
  public static List<Integer> statuses(String answers) {
    return Pattern.compile("HTTP/1\\.1 (\\d{3}) ")
        .matcher(answers)
        .results()
        .map(answer -> Integer.valueOf(answer.group(1)))
        .toList();
  }

  /** Returns the values of one header in several answers, in order. */
  public static List<String> headers(String answers, String name) {
    return Pattern.compile("(?im)^" + name + ": (.*?)\r?$")
        .matcher(answers)
        .results()
        .map(header -> header.group(1))
        .toList();
  }
}
