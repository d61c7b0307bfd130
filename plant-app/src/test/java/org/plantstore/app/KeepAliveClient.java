package org.plantstore.app;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;

/** A connection over which one create follows the other until the service says it is the last. */
final class KeepAliveClient implements AutoCloseable {

  private static final int TIMEOUT_MILLIS = 30_000;

  private final Socket socket;
  private final InputStream input;
  private boolean last;

  KeepAliveClient(int port) throws IOException {
    socket = new Socket("localhost", port);
    socket.setSoTimeout(TIMEOUT_MILLIS);
    input = new BufferedInputStream(socket.getInputStream());
  }

  /** Sends a create with a valid token, and answers the status of its answer. */
  int create(long id) throws IOException {
    String body = "{\"id\":" + id + ",\"name\":\"fern\"}";
    String request =
        "POST /plants HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
            + ServiceProcess.token()
            + "\r\nContent-Type: application/json\r\nContent-Length: "
            + body.length()
            + "\r\n\r\n"
            + body;
    socket.getOutputStream().write(request.getBytes(ISO_8859_1));
    SocketAnswer answer = SocketAnswer.read(input);
    last = answer.isLast();
    return answer.status();
  }

  /** Says whether the service has said that it closes the connection. */
  boolean isLast() {
    return last;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
