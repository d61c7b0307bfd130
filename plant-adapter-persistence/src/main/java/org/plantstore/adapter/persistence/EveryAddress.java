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
 * Connects sockets to the first address of a host that accepts, as libpq does; the driver would try
 * only one. The driver still knows the host by its name, so that it can verify a certificate. The
 * driver creates an instance for each connection, which it also uses to cancel statements there.
 */
public final class EveryAddress extends SocketFactory {

  /** The address that is tried first: the last one that accepted, until an attempt fails there. */
  private static final AtomicInteger FIRST = new AtomicInteger();

  private final String host;
  private final int port;
  private final int timeoutMillis;
  private @Nullable InetAddress connected;

  /** Creates a factory for the host in the parameters of a connection. */
  public EveryAddress(Properties parameters) throws PSQLException {
    host = String.valueOf(PGProperty.PG_HOST.getOrDefault(parameters));
    port = PGProperty.PG_PORT.getInt(parameters);
    timeoutMillis = 1_000 * PGProperty.CONNECT_TIMEOUT.getInt(parameters);
  }

  /** Returns whether there is one host; of several the driver tries an address of each. */
  static boolean isFor(DatabaseAddress address) {
    return !address.value(PGProperty.PG_HOST).contains(",")
        && address.value(PGProperty.SOCKET_FACTORY).isEmpty()
        && address.value(PGProperty.LOCAL_SOCKET_ADDRESS).isEmpty();
  }

  /** Makes later connections begin with another address, such as of a promoted standby. */
  static void tryNext() {
    FIRST.incrementAndGet();
  }

  @Override
  public Socket createSocket() throws IOException {
    InetAddress[] addresses =
        connected == null // otherwise a statement is cancelled
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

  /** Not used by the driver, like the other forms. */
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
