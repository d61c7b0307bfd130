package org.plantstore.app;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * The network between the service and its database, which loses, delays and cuts what it is told
 * to. Safe for use by many threads.
 */
final class DatabaseProxy implements AutoCloseable {

  private static final int BACKLOG = 1;
  private static final Duration CONNECT_TIMEOUT = Duration.ofMillis(300);
  private static final Duration CHECK_PERIOD = Duration.ofMillis(5);

  private final ServerSocket listener;
  private final Set<Link> links = ConcurrentHashMap.newKeySet();
  private final List<Socket> backlog = new CopyOnWriteArrayList<>();

  private volatile int target;
  private volatile Duration delay = Duration.ZERO;
  private volatile boolean isAccepting = true;
  private volatile boolean isForwarding = true;
  private volatile boolean isAnswerCut;
  private volatile boolean closed;

  private final AtomicInteger accepted = new AtomicInteger();

  /** Leads to the port of this machine. */
  DatabaseProxy(int target) {
    this(InetAddress.getLoopbackAddress(), 0, target);
  }

  /** Listens at this address of this machine, and leads to the target. */
  DatabaseProxy(InetAddress address, int port, int target) {
    this.target = target;
    try {
      listener = new ServerSocket(port, BACKLOG, address);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    start(this::acceptAll);
  }

  int port() {
    return listener.getLocalPort();
  }

  /** Answers how many connections have ever been accepted. */
  int accepted() {
    return accepted.get();
  }

  /** Lets new connections lead to another port; the old ones stay. */
  void setTarget(int port) {
    target = port;
  }

  /** Holds up everything for so long, in each direction. */
  void setDelay(Duration time) {
    delay = time;
  }

  /** Forwards nothing any more, on old and on new connections. What came stays for later. */
  void fallSilent() {
    isForwarding = false;
  }

  /** Forwards nothing any more on the connections there are, for ever; new ones are served. */
  void abandonConnections() {
    links.forEach(link -> link.isAbandoned = true);
  }

  /** Lets the kernel drop the packets of whoever wants to connect. */
  void acceptNothing() throws IOException {
    isAccepting = false;
    while (true) {
      Socket socket = new Socket();
      try {
        socket.connect(
            listener.getLocalSocketAddress(), Math.toIntExact(CONNECT_TIMEOUT.toMillis()));
        backlog.add(socket);
      } catch (SocketTimeoutException e) {
        socket.close();
        return;
      }
    }
  }

  /** Resets all connections, and those to come. */
  void refuse() {
    target = -1;
    links.forEach(Link::close);
  }

  /** Closes the next connection on which the database answers, and loses the answer. */
  void cutNextAnswer() {
    isAnswerCut = true;
  }

  /** Does what a network should, from now on. */
  void heal(int port) throws IOException {
    for (Socket socket : backlog) {
      socket.close();
    }
    backlog.clear();
    target = port;
    delay = Duration.ZERO;
    isForwarding = true;
    isAccepting = true;
  }

  @Override
  public void close() throws IOException {
    closed = true;
    listener.close();
    links.forEach(Link::close);
    for (Socket socket : backlog) {
      socket.close();
    }
  }

  private void acceptAll() {
    while (!closed) {
      try {
        awaitUntilAccepting();
        Socket client = listener.accept();
        accepted.incrementAndGet();
        if (isAccepting) {
          start(() -> connect(client));
        } else {
          backlog.add(client); // it came while this was already waiting
        }
      } catch (IOException e) {
        closed = true;
      }
    }
  }

  private void awaitUntilAccepting() {
    while (!isAccepting && !closed) {
      LockSupport.parkNanos(CHECK_PERIOD.toNanos());
    }
  }

  private void connect(Socket client) {
    try {
      Socket server = new Socket();
      server.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), target));
      Link link = new Link(client, server);
      links.add(link);
      start(() -> link.forward(client, server, false));
      link.forward(server, client, true);
    } catch (IOException | IllegalArgumentException e) {
      closeUnchecked(client);
    }
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work, "database-proxy");
    thread.setDaemon(true);
    thread.start();
  }

  private static void closeUnchecked(Closeable socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A connection of the service, and the one to the database that it leads to. */
  private final class Link {

    private final Socket client;
    private final Socket server;
    private volatile boolean isAbandoned;

    Link(Socket client, Socket server) {
      this.client = client;
      this.server = server;
    }

    void forward(Socket from, Socket to, boolean isAnswer) {
      byte[] bytes = new byte[8192];
      try {
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream();
        for (int length = in.read(bytes); length >= 0; length = in.read(bytes)) {
          LockSupport.parkNanos(delay.toNanos());
          awaitForwarding();
          if (isAnswer && isAnswerCut) {
            isAnswerCut = false;
            return;
          }
          out.write(bytes, 0, length);
        }
      } catch (IOException e) {
        // One of the two has gone away, and so does the other.
        return;
      } finally {
        close();
      }
    }

    private void awaitForwarding() {
      while ((!isForwarding || isAbandoned) && !client.isClosed() && !closed) {
        LockSupport.parkNanos(CHECK_PERIOD.toNanos());
      }
    }

    void close() {
      links.remove(this);
      closeUnchecked(client);
      closeUnchecked(server);
    }
  }
}
