package org.plantstore.domain.contract;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

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

  private final InetSocketAddress server;
  private final ServerSocket listener = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private volatile State state = State.FORWARDING;

  Proxy(InetSocketAddress server) throws IOException {
    this.server = server;
    start(this::accept);
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
  private static void start(Callable<@Nullable Void> work) {
    Calls.CALLERS.execute(new FutureTask<>(work));
  }

  private @Nullable Void accept() throws IOException {
    while (true) {
      Socket client = listener.accept();
      sockets.add(client);
      start(() -> connect(client));
    }
  }

  private @Nullable Void connect(Socket client) throws IOException {
    try (client) {
      if (mayForward()) {
        try (Socket target = new Socket(server.getHostString(), server.getPort())) {
          sockets.add(target);
          start(() -> copy(target, client));
          copy(client, target);
        }
      }
    }
    return null;
  }

  private @Nullable Void copy(Socket from, Socket to) throws IOException {
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] bytes = new byte[1 << 16];
      for (int length = in.read(bytes); length >= 0 && mayForward(); length = in.read(bytes)) {
        out.write(bytes, 0, length);
      }
    }
    return null;
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
