package org.plantstore.adapter.persistence;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.SocketFactory;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGProperty;
import org.postgresql.util.PSQLException;

/**
 * Tries each address of the database host until one accepts the connection, as libpq does. On its
 * own, the driver would try only one address. The driver still verifies the server's certificate
 * against the host name. The driver creates one instance for each connection, and reuses the
 * instance to cancel that connection's statements. Instances are not thread-safe.
 */
public final class EveryAddress extends SocketFactory {

  /**
   * The index of the address to try first. Usually, this is the index of the last address that
   * accepted a connection.
   */
  private static final AtomicInteger FIRST = new AtomicInteger();

  private final String host;
  private final int port;
  private final int timeoutMillis;
  private @Nullable InetAddress connected;

  /**
   * Creates a factory for one connection.
   *
   * @param parameters the driver's parameters, including the host, the port, and the connect
   *     timeout in seconds
   * @throws PSQLException if the port or the timeout is not a number
   */
  public EveryAddress(Properties parameters) throws PSQLException {
    host = String.valueOf(PGProperty.PG_HOST.getOrDefault(parameters));
    port = PGProperty.PG_PORT.getInt(parameters);
    timeoutMillis = 1_000 * PGProperty.CONNECT_TIMEOUT.getInt(parameters);
  }

  /** Returns whether the URL names one host and sets no socket factory or local address. */
  static boolean isFor(DatabaseAddress address) {
    return !address.value(PGProperty.PG_HOST).contains(",")
        && address.value(PGProperty.SOCKET_FACTORY).isEmpty()
        && address.value(PGProperty.LOCAL_SOCKET_ADDRESS).isEmpty();
  }

  /**
   * Makes later connections try the next address first, because a standby at that address may have
   * been promoted.
   */
  static void tryNext() {
    FIRST.incrementAndGet();
  }

  /**
   * Returns a socket that is connected to one of the host's addresses. Later calls on this instance
   * connect to the same address.
   *
   * @throws IOException if the host name does not resolve, or no address accepts the connection
   */
  @Override
  public Socket createSocket() throws IOException {
    InetAddress[] addresses =
        connected == null // otherwise, the driver is canceling a statement
            ? InetAddress.getAllByName(host)
            : new InetAddress[] {connected};
    int first = FIRST.get();
    for (int tried = 0; true; tried++) {
      InetAddress address = addresses[Math.floorMod(first + tried, addresses.length)];
      Socket socket = new Socket();
      try {
        socket.connect(new InetSocketAddress(address, port), timeoutMillis);
        connected = address;
        FIRST.set(first + tried);
        return socket;
      } catch (IOException e) {
        socket.close();
        if (tried == addresses.length - 1) {
          throw e;
        }
      }
    }
  }

  // The driver never calls the following methods.

  @Override
  public Socket createSocket(String name, int at) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Socket createSocket(String name, int at, InetAddress local, int from) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Socket createSocket(InetAddress address, int at) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Socket createSocket(InetAddress address, int at, InetAddress local, int from) {
    throw new UnsupportedOperationException();
  }
}
