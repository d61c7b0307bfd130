package org.plantstore.app;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.util.Locale;
import javax.net.SocketFactory;

/** A client connection that sends raw bytes, for example incomplete requests. */
final class RawClient implements AutoCloseable {

  private static final int TIMEOUT_MILLIS = 120_000;
  private static final String CONTENT_LENGTH = "content-length: ";

  private final Socket socket;
  private final InputStream input;
  private boolean closing;

  RawClient(SocketFactory sockets, int port) throws IOException {
    socket = sockets.createSocket("localhost", port);
    socket.setSoTimeout(TIMEOUT_MILLIS);
    input = new BufferedInputStream(socket.getInputStream(), 512);
  }

  /** Returns the first headers of a create request with a valid token. */
  static String head() {
    return "POST /plants HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        + "Authorization: Bearer "
        + ServiceProcess.token()
        + "\r\n";
  }

  int create(long id) throws IOException {
    sendCreate(ServiceProcess.json(id, "fern"), 0);
    return status();
  }

  /** Sends a create request without this number of bytes at the end of its body. */
  void sendCreate(String body, int missing) throws IOException {
    send(head() + "Content-Length: " + (body.length() + missing) + "\r\n\r\n" + body);
  }

  void send(String bytes) throws IOException {
    socket.getOutputStream().write(bytes.getBytes(ISO_8859_1));
  }

  /** Reads a response and returns its status. */
  int status() throws IOException {
    int status = Integer.parseInt(line().split(" ", 3)[1]);
    int bodyBytes = 0;
    for (String header = line(); !header.isEmpty(); header = line()) {
      closing |= header.equals("connection: close");
      if (header.startsWith(CONTENT_LENGTH)) {
        bodyBytes = Integer.parseInt(header.substring(CONTENT_LENGTH.length()));
      }
    }
    input.skipNBytes(bodyBytes);
    return status;
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int read = input.read(); read != '\n'; read = input.read()) {
      if (read < 0) {
        throw new EOFException("closed after: " + line);
      }
      line.append((char) read);
    }
    return line.toString().strip().toLowerCase(Locale.ROOT);
  }

  /** Returns whether a response has contained {@code Connection: close}. */
  boolean isClosing() {
    return closing;
  }

  /** Resets the connection, as if the client had been killed. */
  @Override
  public void close() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }
}
