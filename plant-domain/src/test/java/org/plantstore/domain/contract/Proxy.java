package org.plantstore.domain.contract;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/** A proxy in front of a server. */
final class Proxy implements AutoCloseable {

  enum State {
    /** Forwards, also what was sent during a silence. */
    FORWARDING,
    /** Keeps connections open, accepts others, and forwards nothing, as a stopped process. */
    SILENT,
    /** Closes all connections, and each new one. */
    REFUSING
  }

  private final ServerSocket listener = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private volatile State state = State.FORWARDING;

  Proxy(InetSocketAddress server) throws IOException {
    start(() -> {
      while (true) {
        Socket client = listener.accept();
        sockets.add(client);
        start(() -> connect(client, server));
      }
    });
  }

  InetSocketAddress address() {
    return (InetSocketAddress) listener.getLocalSocketAddress();
  }

  void become(State next) throws IOException {
    state = next;
    if (next == State.REFUSING) {
      for (Socket socket : sockets) {
        socket.close();
      }
      sockets.clear();
    }
  }

  /** Starts a thread, which ends by an exception when a socket is closed. */
  private static void start(Callable<Boolean> work) {
    Calls.CALLERS.execute(() -> Calls.outcome(work));
  }

  private boolean connect(Socket client, InetSocketAddress server) throws IOException {
    try (client) {
      if (mayForward()) {
        try (Socket target = new Socket(server.getHostString(), server.getPort())) {
          sockets.add(target);
          start(() -> copy(target, client));
          copy(client, target);
        }
      }
    }
    return false;
  }

  private boolean copy(Socket from, Socket to) throws IOException {
    try (from;
        to) {
      InputStream in = from.getInputStream();
      byte[] bytes = new byte[1 << 16];
      for (int length = in.read(bytes); length >= 0 && mayForward(); length = in.read(bytes)) {
        to.getOutputStream().write(bytes, 0, length);
      }
    }
    return false;
  }

  /** Waits during a silence, and returns whether a connection may go on. */
  private boolean mayForward() {
    while (state == State.SILENT) {
      LockSupport.parkNanos(1_000_000);
    }
    return state == State.FORWARDING;
  }

  @Override
  public void close() throws IOException {
    listener.close();
    become(State.REFUSING);
  }
}
