package org.plantstore.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;

/** A create with the largest body that is allowed by default, sent over a connection of its own. */
final class LargeCreate implements AutoCloseable {

  private static final int BODY_BYTES = 1_048_576;

  private static final Duration LIMIT = Duration.ofMinutes(2);

  /** In memory this takes twice as many bytes as in UTF-8, because of its last character. */
  private static final byte[] NAME_AND_END =
      ("x".repeat(BODY_BYTES - 100) + "\u0416\"}").getBytes(UTF_8);

  private final Socket socket;
  private final byte[] head;

  LargeCreate(URI service, String token, long id) throws IOException {
    byte[] start = ("{\"id\":" + id + ",\"name\":\"").getBytes(UTF_8);
    int white = BODY_BYTES - start.length - NAME_AND_END.length;
    this.head =
        ("POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
                + token
                + "\r\nContent-Type: application/json\r\nContent-Length: "
                + BODY_BYTES
                + "\r\n\r\n"
                + " ".repeat(white)
                + new String(start, UTF_8))
            .getBytes(UTF_8);
    this.socket = new Socket(service.getHost(), service.getPort());
    socket.setSoTimeout((int) LIMIT.toMillis());
  }

  void sendAllButTheLastByte() throws IOException {
    socket.getOutputStream().write(head);
    socket.getOutputStream().write(NAME_AND_END, 0, NAME_AND_END.length - 1);
  }

  void sendTheLastByte() throws IOException {
    socket.getOutputStream().write(NAME_AND_END, NAME_AND_END.length - 1, 1);
  }

  /** Waits for the whole answer, and tells its status. */
  int status() throws IOException {
    return SocketAnswer.read(new BufferedInputStream(socket.getInputStream())).status();
  }

  /** Ends the connection without a word, as a client does that is killed. */
  @Override
  public void close() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }
}
