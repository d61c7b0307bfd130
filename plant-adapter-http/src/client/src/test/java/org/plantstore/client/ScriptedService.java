package org.plantstore.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

/** An HTTP server that answers each request with the next response in a script. */
final class ScriptedService implements AutoCloseable {

  /** A script entry for a request that receives no response. */
  static final String SILENCE = "silence";

  /** The requests received so far, each with its headers and body. */
  final List<String> requests = new CopyOnWriteArrayList<>();

  /** The remaining responses. After a response without a length, the connection is closed. */
  final Queue<String> script = new ConcurrentLinkedQueue<>();

  final List<Socket> connections = new CopyOnWriteArrayList<>();
  private final ServerSocket listener =
      assertDoesNotThrow(() -> new ServerSocket(0, 512, InetAddress.getLoopbackAddress()));
  final URI address = URI.create("http://localhost:" + listener.getLocalPort());

  ScriptedService() {
    new Thread(this::serve).start();
  }

  /** Returns a response with a body, its length, and the given header lines. */
  static String response(int status, String body, String... headers) {
    String length = "Content-Length: " + body.getBytes(UTF_8).length + "\r\n";
    String lines = Stream.of(headers).map(header -> header + "\r\n").collect(joining());
    return "HTTP/1.1 " + status + " any\r\n" + length + lines + "\r\n" + body;
  }

  /** Serves one connection, and starts a thread that serves the next one. */
  private void serve() {
    try (Socket connection = listener.accept();
        DataInputStream in = new DataInputStream(connection.getInputStream())) {
      new Thread(this::serve).start();
      connections.add(connection);
      String response = SILENCE;
      while (response.equals(SILENCE) || response.contains("Content-Length")) {
        requests.add(read(in));
        response = script.remove();
        if (!response.equals(SILENCE)) {
          connection.getOutputStream().write(response.getBytes(UTF_8));
        }
      }
    } catch (IOException e) {
      // The client closed the connection, or the test has ended.
    }
  }

  long openConnections() {
    return connections.stream().filter(connection -> !connection.isClosed()).count();
  }

  private static String read(DataInputStream in) throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      head.append((char) in.readByte());
    }
    String length = head.toString().replaceFirst("(?is).*content-length: (\\d+).*|.*", "0$1");
    return head + new String(in.readNBytes(Integer.parseInt(length)), UTF_8);
  }

  @Override
  public void close() throws IOException {
    listener.close();
    for (Socket connection : connections) {
      connection.close();
    }
  }
}
