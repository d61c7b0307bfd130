package org.plantstore.adapter.http.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.micronaut.context.annotation.Property;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.Log;
import org.plantstore.adapter.http.ServerTest;
import org.plantstore.adapter.http.tls.TestCertificate;

/** Protocols and versions, and clients that do not get as far as a request. */
@Property(name = "request.timeout.seconds", value = "2")
class TlsTest extends ServerTest implements OverTls {

  @ParameterizedTest
  @CsvSource({"TLSv1.3, h2 http/1.1", "TLSv1.2, http/1.1"})
  void client_that_also_offers_http_2_is_served(String version, String offered) throws IOException {
    try (SSLSocket client = (SSLSocket) connect()) {
      var parameters = client.getSSLParameters();
      parameters.setProtocols(new String[] {version});
      parameters.setApplicationProtocols(offered.split(" ", -1));
      client.setSSLParameters(parameters);
      write(client, createRequest("Connection: close\r\n"));

      assertEquals(List.of(200), statuses(readAll(client)));
      assertEquals(version, client.getSession().getProtocol());
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

  /** A client in a handshake has no more time than one in a request. */
  @ParameterizedTest
  @ValueSource(strings = {"nothing", "head", "record"})
  @Execution(ExecutionMode.CONCURRENT)
  @Tag("slow")
  @Tag("newest")
  void client_that_dawdles_is_closed_in_time(String last) throws IOException {
    long start = System.nanoTime();
    try (Socket client = new Socket(server.getHost(), server.getPort())) {
      begin(client, last);
      client.setSoTimeout(100);
      while (!isClosed(client, last.equals("record"))) {
        assertTrue(System.nanoTime() - start < Duration.ofSeconds(12).toNanos(), last + " is open");
      }
    }
    Duration waited = Duration.ofNanos(System.nanoTime() - start);
    assertTrue(waited.toSeconds() >= 2, () -> last + " closed after " + waited);
    assertEquals(200, post(FERN).status());
  }

  private void begin(Socket client, String last) throws IOException {
    if (last.equals("head")) {
      SSLSocketFactory sockets = TestCertificate.TRUST.getSocketFactory();
      write(
          sockets.createSocket(client, server.getHost(), server.getPort(), false),
          createRequest("").substring(0, 50));
    } else if (last.equals("record")) {
      write(client, "\u0016\u0003\u0003@\0"); // 16 KiB follow
    }
  }

  /** Returns whether the server closes the connection soon; one that drips sends another byte. */
  private static boolean isClosed(Socket client, boolean drips) {
    try {
      write(client, drips ? "1" : "");
      client.getInputStream().readAllBytes();
      return true;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true;
    }
  }
}
