package org.plantstore.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A server of HTTP that gives each request the next response of a script. */
final class ScriptedService implements AutoCloseable {

  /** In place of a response: the connection is closed, or nothing happens. */
  static final String CLOSE = "close";

  static final String SILENCE = "silence";

  private static final Pattern LENGTH = Pattern.compile("(?i)\r\ncontent-length: (\\d+)\r\n");

  /** The requests, each with its head and its body. */
  final List<String> requests = new CopyOnWriteArrayList<>();

  /** The connections that are open at the side of the server. */
  final Set<Socket> connections = ConcurrentHashMap.newKeySet();

  /** What remains of the script. */
  final Queue<String> script = new ConcurrentLinkedQueue<>();

  private final ServerSocket listener =
      assertDoesNotThrow(() -> new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
  private final ExecutorService threads = Executors.newCachedThreadPool();

  ScriptedService() {
    threads.execute(this::acceptAll);
  }

  /** Returns a response with a body of JSON, and further header lines. */
  static String response(int status, String body, String... headers) {
    return "HTTP/1.1 "
        + (status + " any\r\nContent-Length: " + body.getBytes(UTF_8).length + "\r\n")
        + String.join("", List.of(headers).stream().map(header -> header + "\r\n").toList())
        + ("\r\n" + body);
  }

  URI address() {
    return URI.create("http://localhost:" + listener.getLocalPort());
  }

  private void acceptAll() {
    try {
      while (true) {
        Socket connection = listener.accept();
        connections.add(connection);
        threads.execute(() -> serve(connection));
      }
    } catch (IOException e) {
      // closed
    }
  }

  private void serve(Socket connection) {
    try (connection) {
      InputStream in = new BufferedInputStream(connection.getInputStream());
      for (String request = read(in); !request.isEmpty(); request = read(in)) {
        requests.add(request);
        String response = script.remove();
        if (response.equals(CLOSE)) {
          return;
        } else if (!response.equals(SILENCE)) {
          connection.getOutputStream().write(response.getBytes(UTF_8));
        }
      }
    } catch (IOException e) {
      // closed by the client
    } finally {
      connections.remove(connection);
    }
  }

  /** Returns the next request, or an empty text at the end of the connection. */
  private static String read(InputStream in) throws IOException {
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    while (!head.toString(ISO_8859_1).endsWith("\r\n\r\n")) {
      int next = in.read();
      if (next < 0) {
        return "";
      }
      head.write(next);
    }
    Matcher length = LENGTH.matcher(head.toString(ISO_8859_1));
    byte[] body = in.readNBytes(length.find() ? Integer.parseInt(length.group(1)) : 0);
    return head.toString(ISO_8859_1) + new String(body, UTF_8);
  }

  @Override
  public void close() throws IOException {
    listener.close();
    for (Socket connection : connections) {
      connection.close();
    }
    threads.shutdown();
  }
}
