package org.plantstore.adapter.persistence;

import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * A way to a real server, without TLS, on which the numbers of rows that statements have changed
 * are false, and which breaks when it is told to.
 */
final class LyingServer implements AutoCloseable {

  private static final int COMMAND_COMPLETE = 'C';

  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final int target;

  /** Breaks the connection on which a client sends this, once. */
  volatile @Nullable String cutAt;

  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final ExecutorService threads =
      Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "lying-server");
        thread.setDaemon(true);
        return thread;
      });

  LyingServer(int target) throws IOException {
    this.target = target;
    threads.execute(this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        sockets.add(client);
        Socket server = connect(client);
        sockets.add(server);
        client.setTcpNoDelay(true);
        server.setTcpNoDelay(true);
        threads.execute(() -> {
          try (client;
              server) {
            forward(client.getInputStream(), server.getOutputStream());
          } catch (IOException e) {
            // One of both has closed the connection.
          }
        });
        threads.execute(() -> {
          try (client;
              server) {
            lie(
                server.getInputStream(),
                new DataOutputStream(new BufferedOutputStream(client.getOutputStream())));
          } catch (IOException e) {
            // Likewise.
          }
        });
      } catch (IOException e) {
        // The listener is closed, or the server is down.
      }
    }
  }

  private Socket connect(Socket client) throws IOException {
    try {
      return new Socket(InetAddress.getLoopbackAddress(), target);
    } catch (IOException e) {
      client.close();
      throw e;
    }
  }

  private void forward(InputStream client, OutputStream server) throws IOException {
    byte[] bytes = new byte[8192];
    for (int count = client.read(bytes); count >= 0; count = client.read(bytes)) {
      String cut = cutAt;
      if (cut != null && new String(bytes, 0, count, StandardCharsets.ISO_8859_1).contains(cut)) {
        cutAt = null;
        return;
      }
      server.write(bytes, 0, count);
    }
  }

  /** Passes on the server's messages, each a type, a length that counts itself, and a content. */
  private static void lie(InputStream server, DataOutputStream client) throws IOException {
    DataInputStream messages = new DataInputStream(server);
    while (true) {
      int type = messages.readByte();
      byte[] content = new byte[messages.readInt() - Integer.BYTES];
      messages.readFully(content);
      if (type == COMMAND_COMPLETE) {
        falsify(content);
      }
      client.write(type);
      client.writeInt(content.length + Integer.BYTES);
      client.write(content);
      client.flush();
    }
  }

  /** Replaces each digit of the number in a tag such as {@code INSERT 0 17} by another. */
  private static void falsify(byte[] tag) {
    String text = new String(tag, StandardCharsets.US_ASCII);
    if (text.startsWith("INSERT 0 ")) {
      for (int index = "INSERT 0 ".length(); index < tag.length - 1; index++) {
        tag[index] = (byte) ('0' + '9' - tag[index]);
      }
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
    threads.shutdownNow();
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
