package org.plantstore.domain.contract;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** A proxy in front of a server that can fall silent, refuse connections, and be there again. */
final class Proxy implements AutoCloseable {

  private enum State {
    FORWARDING,
    SILENT,
    REFUSING
  }

  private final @Nullable InetSocketAddress server;
  private final ServerSocket listener;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private State state = State.FORWARDING;

  Proxy(@Nullable InetSocketAddress server) {
    this.server = server;
    try {
      listener = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    run(this::accept);
  }

  InetSocketAddress address() {
    return (InetSocketAddress) listener.getLocalSocketAddress();
  }

  /** Forwards again, also what was sent during a silence. */
  void forward() {
    set(State.FORWARDING);
  }

  /** Keeps all connections open, accepts others, and forwards nothing, as a stopped process. */
  void fallSilent() {
    set(State.SILENT);
  }

  /** Closes all connections, and each new one. */
  void refuse() {
    set(State.REFUSING);
    sockets.forEach(Proxy::close);
    sockets.clear();
  }

  private synchronized void set(State newState) {
    state = newState;
    notifyAll();
  }

  /** Returns whether a connection may go on, after any silence. */
  private synchronized boolean mayForward() {
    try {
      while (state == State.SILENT) {
        wait();
      }
      return state == State.FORWARDING;
    } catch (InterruptedException e) {
      return false;
    }
  }

  private void accept() throws IOException {
    while (true) {
      Socket client = listener.accept();
      sockets.add(client);
      run(() -> connect(client));
    }
  }

  private void connect(Socket client) throws IOException {
    try (client) {
      if (server != null && mayForward()) {
        try (Socket target = new Socket(server.getHostString(), server.getPort())) {
          sockets.add(target);
          run(() -> copy(target, client));
          copy(client, target);
        }
      }
    }
  }

  private void copy(Socket from, Socket to) throws IOException {
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] bytes = new byte[1 << 16];
      for (int length = in.read(bytes); length >= 0 && mayForward(); length = in.read(bytes)) {
        out.write(bytes, 0, length);
      }
    }
  }

  private interface Work {

    void run() throws IOException;
  }

  private static void run(Work work) {
    Call.CALLERS.execute(() -> {
      try {
        work.run();
      } catch (IOException e) {
        return; // of a connection that is closed
      }
    });
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
    refuse();
  }
}
