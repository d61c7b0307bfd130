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
 * Connects a socket to the first address of a host that accepts the connection, as libpq does. The
 * driver by itself would try only one address. The driver still knows the host by its name, so that
 * it can verify the certificate. The driver creates one instance for each connection, and uses it
 * again to cancel statements of this connection. Instances do not support concurrent calls.
 */
public final class EveryAddress extends SocketFactory {

  /** The index of the address that is tried first, which is the one that worked last. */
  private static final AtomicInteger FIRST = new AtomicInteger();

  private final String host;
  private final int port;
  private final int timeoutMillis;
  private @Nullable InetAddress connected;

  /**
   * Creates a factory for one connection.
   *
   * @param parameters the driver's parameters, which contain the host, the port, and the connect
   *     time-out in seconds
   * @throws PSQLException if the port or the time-out is not a number
   */
  public EveryAddress(Properties parameters) throws PSQLException {
    host = String.valueOf(PGProperty.PG_HOST.getOrDefault(parameters));
    port = PGProperty.PG_PORT.getInt(parameters);
    timeoutMillis = 1_000 * PGProperty.CONNECT_TIMEOUT.getInt(parameters);
  }

  /** Returns whether the URL names one host, and sets no socket factory and no local address. */
  static boolean isFor(DatabaseAddress address) {
    return !address.value(PGProperty.PG_HOST).contains(",")
        && address.value(PGProperty.SOCKET_FACTORY).isEmpty()
        && address.value(PGProperty.LOCAL_SOCKET_ADDRESS).isEmpty();
  }

  /** Makes later connections begin with another address, for example that of a promoted standby. */
  static void tryNext() {
    FIRST.incrementAndGet();
  }

  /**
   * Returns a socket that is connected to an address of the host. A later call connects to the same
   * address again.
   *
   * @throws IOException if the host name does not resolve, or if no address accepts the connection
   */
  @Override
  public Socket createSocket() throws IOException {
    InetAddress[] addresses =
        connected == null // otherwise, the driver cancels a statement
            ? InetAddress.getAllByName(host)
            : new InetAddress[] {connected};
    for (int tried = 0; true; tried++) {
      InetAddress address = addresses[Math.floorMod(FIRST.get() + tried, addresses.length)];
      Socket socket = new Socket();
      try {
        socket.connect(new InetSocketAddress(address, port), timeoutMillis);
        connected = address;
        FIRST.addAndGet(tried);
        return socket;
      } catch (IOException e) {
        socket.close();
        if (tried == addresses.length - 1) {
          throw e;
        }
      }
    }
  }

  /**
   * Not supported, because the driver does not use this method.
   *
   * @throws UnsupportedOperationException always
   */
  @Override
  public Socket createSocket(String name, int at) {
    throw new UnsupportedOperationException();
  }

  /**
   * Not supported, because the driver does not use this method.
   *
   * @throws UnsupportedOperationException always
   */
  @Override
  public Socket createSocket(String name, int at, InetAddress local, int from) {
    throw new UnsupportedOperationException();
  }

  /**
   * Not supported, because the driver does not use this method.
   *
   * @throws UnsupportedOperationException always
   */
  @Override
  public Socket createSocket(InetAddress address, int at) {
    throw new UnsupportedOperationException();
  }

  /**
   * Not supported, because the driver does not use this method.
   *
   * @throws UnsupportedOperationException always
   */
  @Override
  public Socket createSocket(InetAddress address, int at, InetAddress local, int from) {
    throw new UnsupportedOperationException();
  }
}
