package org.plantstore.adapter.persistence;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.FutureTask;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/** A proxy of a real server, without TLS, that falsifies the number of inserted rows and a name. */
final class LyingServer implements AutoCloseable {

  /** A name that clients read with U+0000, which no plant may have. */
  static final String REFUSED = "refused by a rule";

  /** A tag such as {@code INSERT 0 17}. */
  private static final Pattern INSERTED = Pattern.compile("INSERT 0 (\\d+)");

  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final Set<Socket> clients = ConcurrentHashMap.newKeySet();
  private final int target;

  LyingServer(int target) throws IOException {
    this.target = target;
    start(() -> {
      while (true) {
        Socket client = listener.accept();
        clients.add(client);
        start(() -> serve(client));
        if (listener.isClosed()) { // close() may not have seen it
          client.close();
        }
      }
    });
  }

  String url() {
    return "jdbc:postgresql://localhost:" + listener.getLocalPort() + "/postgres?sslmode=disable";
  }

  /** Starts a thread, which ends by an exception when a socket is closed. */
  private static void start(Callable<Void> work) {
    Thread thread = new Thread(new FutureTask<>(work));
    thread.setDaemon(true);
    thread.start();
  }

  private Void serve(Socket client) throws IOException {
    try (client;
        Socket server = new Socket(InetAddress.getLoopbackAddress(), target)) {
      start(() -> forward(server, client, LyingServer::falsify));
      return forward(client, server, UnaryOperator.identity());
    }
  }

  private static Void forward(Socket from, Socket to, UnaryOperator<String> change)
      throws IOException {
    try (from;
        to) {
      to.setTcpNoDelay(true);
      byte[] bytes = new byte[8192];
      InputStream input = from.getInputStream();
      for (int count = input.read(bytes); count >= 0; count = input.read(bytes)) {
        String text = change.apply(new String(bytes, 0, count, ISO_8859_1));
        to.getOutputStream().write(text.getBytes(ISO_8859_1));
      }
      return null;
    }
  }

  private static String falsify(String text) {
    return INSERTED
        .matcher(text.replace(REFUSED, REFUSED.replace(' ', '\0')))
        .replaceAll(tag -> "INSERT 0 " + "8".repeat(tag.group(1).length()));
  }

  @Override
  public void close() throws IOException {
    listener.close();
    for (Socket client : clients) {
      client.close();
    }
  }
}
