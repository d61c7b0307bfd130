package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.Arrays;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** A network proxy that simulates faults on demand. This class is thread-safe. */
class NetworkProxy implements AutoCloseable {

  private static final int CONNECT_TIMEOUT_MILLIS = 300;

  private final ServerSocket listener;
  private final int home;
  private final ExecutorService threads = Executors.newCachedThreadPool();

  /** Both ends of each open connection. */
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

  private final Set<Socket> backlog = ConcurrentHashMap.newKeySet();
  private volatile int target;
  private volatile boolean isAccepting = true;
  private volatile Set<Socket> abandoned = Set.of();

  NetworkProxy(int target) {
    this(InetAddress.getLoopbackAddress(), 0, target, 1);
  }

  /** Creates a proxy. A backlog above 1 lets several clients connect at once without delay. */
  NetworkProxy(InetAddress address, int port, int target, int backlog) {
    this.home = target;
    this.target = target;
    listener = assertDoesNotThrow(() -> new ServerSocket(port, backlog, address));
    threads.execute(this::acceptAll);
  }

  int port() {
    return listener.getLocalPort();
  }

  /** Returns the number of open connections. */
  int connections() {
    return sockets.size() / 2;
  }

  /** Forwards new connections to another port. Existing connections keep their server. */
  void setTarget(int port) {
    target = port;
  }

  /** Stops forwarding on existing connections forever. New connections work. */
  void abandonConnections() {
    abandoned = Set.copyOf(sockets);
  }

  /** Fills the backlog, so that the kernel drops the packets of new connections. */
  void acceptNothing() throws IOException {
    isAccepting = false;
    try {
      while (true) {
        Socket socket = new Socket();
        backlog.add(socket);
        socket.connect(listener.getLocalSocketAddress(), CONNECT_TIMEOUT_MILLIS);
      }
    } catch (SocketTimeoutException e) {
      // The backlog is full.
    }
  }

  /** Closes all existing connections, and closes every new one at once. */
  void refuse() throws IOException {
    target = -1;
    closeAll(sockets);
  }

  void heal() throws IOException {
    closeAll(backlog);
    target = home;
    isAccepting = true;
  }

  @Override
  public void close() throws IOException {
    heal();
    listener.close();
    closeAll(sockets);
    threads.shutdown();
  }

  private static void closeAll(Collection<Socket> sockets) throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
  }

  private void acceptAll() {
    try {
      while (true) {
        Socket client = listener.accept();
        threads.execute(() -> connect(client));
        pauseWhile(() -> !isAccepting);
      }
    } catch (IOException e) {
      // The listener was closed.
    }
  }

  private void connect(Socket client) {
    pauseWhile(() -> !isAccepting); // accepted just before the fault began
    try (client;
        Socket server = new Socket(InetAddress.getLoopbackAddress(), target)) {
      threads.execute(() -> forward(client, server));
      forward(server, client);
    } catch (IOException | IllegalArgumentException e) {
      // Both connections are closed.
    }
  }

  private void forward(Socket from, Socket to) {
    sockets.add(from);
    byte[] bytes = new byte[8192];
    try (from;
        to) {
      to.setTcpNoDelay(true); // otherwise the second half of a request waits for 40 ms
      for (int read = 0; read >= 0; read = from.getInputStream().read(bytes)) {
        pauseWhile(() -> abandoned.contains(from) && !to.isClosed());
        forwardPart(Arrays.copyOf(bytes, read), to.getOutputStream());
      }
    } catch (IOException e) {
      // One side has closed its connection, so the other connection is closed too.
    } finally {
      sockets.remove(from);
    }
  }

  /** Forwards a part of a stream. If this method throws an exception, the connection is closed. */
  void forwardPart(byte[] part, OutputStream to) throws IOException {
    to.write(part);
  }

  private static void pauseWhile(BooleanSupplier fault) {
    while (fault.getAsBoolean()) {
      LockSupport.parkNanos(5_000_000);
    }
  }
}
