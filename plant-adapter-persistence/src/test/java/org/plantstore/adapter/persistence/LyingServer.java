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
import org.jspecify.annotations.Nullable;

/**
 * A proxy of a real server, without TLS, that falsifies the number of inserted rows, and breaks a
 * connection on demand.
 */
final class LyingServer implements AutoCloseable {

  private static final int COMMAND_COMPLETE = 'C';

  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final int target;

  /** Breaks the first connection on which a client sends this text. */
  volatile @Nullable String cutAt;

  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

  LyingServer(int target) throws IOException {
    this.target = target;
    start(() -> {
      while (true) {
        Socket client = listener.accept();
        sockets.add(client);
        start(() -> serve(client));
      }
    });
  }

  String url() {
    return "jdbc:postgresql://localhost:" + listener.getLocalPort() + "/postgres?sslmode=disable";
  }

  private interface Work {

    void run() throws IOException;
  }

  private static void start(Work work) {
    Thread thread =
        new Thread(() -> {
          try {
            work.run();
          } catch (IOException e) {
            // One side has closed the connection or the listener, or the server is down.
          }
        });
    thread.setDaemon(true);
    thread.start();
  }

  private void serve(Socket client) throws IOException {
    try (client;
        Socket server = new Socket(InetAddress.getLoopbackAddress(), target)) {
      sockets.add(server);
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
      start(() -> {
        try (client;
            server) {
          lie(server.getInputStream(), client.getOutputStream());
        }
      });
      forward(client.getInputStream(), server.getOutputStream());
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

  /** Forwards the server's messages: type, length (which includes itself), content. */
  private static void lie(InputStream server, OutputStream target) throws IOException {
    DataInputStream messages = new DataInputStream(server);
    DataOutputStream client = new DataOutputStream(new BufferedOutputStream(target));
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

  /** Replaces each digit of the number in a tag such as {@code INSERT 0 17}. */
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
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
