package org.plantstore.domain.contract;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/** A proxy that can interrupt traffic between a store and its database server. */
final class Proxy implements AutoCloseable {

  enum State {
    /** Forwards all traffic, including the data that was sent while the proxy was silent. */
    FORWARDING,
    /** Forwards traffic only on new connections, like a firewall that has been restarted. */
    FORGETFUL,
    /**
     * Keeps connections open and accepts new connections, but forwards nothing, like a process that
     * has been stopped.
     */
    SILENT,
    /** Closes all connections, and closes each new connection immediately. */
    REFUSING
  }

  private final ServerSocket listener = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private volatile Set<Socket> forgotten = Set.of();
  private volatile State state = State.FORWARDING;

  Proxy(InetSocketAddress server) throws IOException {
    start(() -> {
      while (true) {
        Socket client = listener.accept();
        Socket target = new Socket(server.getHostString(), server.getPort());
        sockets.add(client);
        sockets.add(target);
        start(() -> copy(client, target));
        start(() -> copy(target, client));
      }
    });
  }

  InetSocketAddress address() {
    return (InetSocketAddress) listener.getLocalSocketAddress();
  }

  void switchTo(State next) throws IOException {
    forgotten = next == State.FORGETFUL ? Set.copyOf(sockets) : forgotten;
    state = next;
    if (next == State.REFUSING) {
      for (Socket socket : sockets) {
        socket.close();
      }
      sockets.clear();
    }
  }

  /**
   * Runs work on a new thread. When a socket is closed, the work ends with an exception, which is
   * ignored.
   */
  private static void start(Callable<Boolean> work) {
    Calls.CALLERS.execute(() -> Calls.outcome(work));
  }

  private boolean copy(Socket from, Socket to) throws IOException {
    try (from;
        to) {
      byte[] bytes = new byte[1 << 16];
      int length = 0;
      while (length >= 0 && state != State.REFUSING) {
        if (state == State.SILENT || forgotten.contains(from)) {
          LockSupport.parkNanos(1_000_000);
        } else {
          to.getOutputStream().write(bytes, 0, length);
          length = from.getInputStream().read(bytes);
        }
      }
    }
    return false;
  }

  @Override
  public void close() throws IOException {
    listener.close();
    switchTo(State.REFUSING);
  }
}
