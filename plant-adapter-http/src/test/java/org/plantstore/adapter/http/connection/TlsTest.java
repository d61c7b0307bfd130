package org.plantstore.adapter.http.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.micronaut.context.annotation.Property;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.Log;
import org.plantstore.adapter.http.ServerTest;
import org.plantstore.adapter.http.tls.TestCertificate;

/** Protocols and versions, and clients that do not get as far as a request. */
@Property(name = "request.timeout.seconds", value = "2")
class TlsTest extends ServerTest implements OverTls {

  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration MARGIN = Duration.ofSeconds(10);
  private static final Duration DRIP = Duration.ofMillis(100);
  private static final int CLIENTS = 20;

  @ParameterizedTest
  @CsvSource({"TLSv1.3, h2 http/1.1", "TLSv1.2, http/1.1"})
  void http_1_1_is_agreed_on(String version, String offered) throws IOException {
    try (SSLSocket client = (SSLSocket) connect()) {
      var parameters = client.getSSLParameters();
      parameters.setProtocols(new String[] {version});
      parameters.setApplicationProtocols(offered.split(" ", -1));
      client.setSSLParameters(parameters);
      write(client, createRequest("Connection: close\r\n"));

      assertEquals(List.of(200), statuses(readAll(client)));
      assertEquals(version, client.getSession().getProtocol());
      assertEquals("http/1.1", client.getApplicationProtocol());
    }
  }

  @Test
  void version_before_1_2_is_refused() throws IOException {
    String cipher = "c013"; // TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA
    String hello = "0302" + "00".repeat(32) + "00" + "0002" + cipher + "0100";
    try (Socket client = new Socket(server.getHost(), server.getPort())) {
      client.getOutputStream().write(HexFormat.of().parseHex("160301002d" + "01000029" + hello));
      byte[] answer = client.getInputStream().readAllBytes();

      String alert = "02" + "46"; // protocol_version (RFC 8446, section 6.2)
      assertTrue(HexFormat.of().formatHex(answer).endsWith(alert));
    }
  }

  @Test
  void second_handshake_is_refused() throws IOException {
    try (SSLSocket client = (SSLSocket) connect()) {
      client.setEnabledProtocols(new String[] {"TLSv1.2"});
      client.startHandshake();
      client.startHandshake();

      assertThrows(IOException.class, () -> client.getInputStream().read());
    }
  }

  /** Such as a client that was not told that the port has changed to TLS. */
  @Test
  void bytes_without_tls_end_the_connection_and_log_nothing() throws IOException {
    try (Log log = new Log("ROOT")) {
      for (String bytes :
          List.of(createRequest(""), "nonsense\r\n", "\u0016\u0003\u0001\0\u0005nonsense")) {
        try (Socket client = new Socket(server.getHost(), server.getPort())) {
          write(client, bytes);
          assertEquals(List.of(), statuses(readAll(client)));
        }
      }
      assertEquals(200, post(FERN).status());
      assertEquals(
          List.of(),
          log.await(0).stream()
              .filter(line -> line.getLevel().isGreaterOrEqual(Level.WARN))
              .toList());
    }
  }

  /** A client in a handshake, or amid a record, has no more time than one in a request. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "nothing", "handshake", "head",
        "record", "record of handshake", "record behind request"
      })
  @Tag("slow")
  @Tag("newest")
  void client_that_dawdles_is_closed_in_time(String last) throws IOException {
    boolean drips = last.startsWith("record");
    List<Socket> clients = new ArrayList<>();
    long start = System.nanoTime();
    for (int client = 0; client < CLIENTS; client++) {
      clients.add(begin(last, drips));
    }
    while (!clients.isEmpty()) {
      LockSupport.parkNanos(DRIP.toNanos());
      clients.removeIf(client -> isClosed(client, drips));
      Duration waited = Duration.ofNanos(System.nanoTime() - start);
      assertTrue(clients.size() == CLIENTS || waited.compareTo(REQUEST_TIMEOUT) >= 0, "too early");
      assertTrue(waited.compareTo(REQUEST_TIMEOUT.plus(MARGIN)) < 0, () -> "open: " + waited);
    }
    assertEquals(200, post(FERN).status());
  }

  /** Returns the connection below that of TLS. */
  private Socket begin(String last, boolean drips) throws IOException {
    Socket socket = new Socket(server.getHost(), server.getPort());
    if (last.endsWith("handshake")) {
      SSLEngine engine = TestCertificate.trust().createSSLEngine();
      engine.setUseClientMode(true);
      ByteBuffer hello = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
      engine.wrap(ByteBuffer.allocate(0), hello);
      socket.getOutputStream().write(hello.array(), 0, hello.position());
    } else if (last.equals("head") || last.endsWith("request")) {
      String request = createRequest("");
      Socket tls =
          TestCertificate.trust()
              .getSocketFactory()
              .createSocket(socket, server.getHost(), server.getPort(), false);
      write(tls, last.equals("head") ? request.substring(0, 50) : request);
    }
    if (drips) {
      write(socket, "\u0016\u0003\u0003@\0"); // 16 KiB follow
    }
    socket.setSoTimeout(1);
    return socket;
  }

  private static boolean isClosed(Socket client, boolean drips) {
    try {
      if (drips) {
        write(client, "1");
      }
      while (client.getInputStream().read() >= 0) {
        // Reads up to the end.
      }
      return true;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true;
    }
  }
}
