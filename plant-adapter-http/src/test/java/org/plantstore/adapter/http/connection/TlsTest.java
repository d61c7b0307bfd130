package org.plantstore.adapter.http.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.context.ApplicationContext;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.test.support.TestPropertyProvider;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.fixture.TestCertificate;

/** Repeats {@link ConnectionTest} with TLS, and tests versions of TLS and incomplete handshakes. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("newest")
class TlsTest extends ConnectionTest implements TestPropertyProvider {

  private static final int TIMEOUT_SECONDS = 2;

  @AutoClose private final EmbeddedServer impatient = startImpatient();

  private EmbeddedServer startImpatient() {
    Map<String, Object> settings = new HashMap<>(getProperties());
    settings.put("jwt.secret", Tokens.SECRET);
    settings.put("request.timeout.seconds", TIMEOUT_SECONDS);
    return ApplicationContext.run(EmbeddedServer.class, settings);
  }

  @Override
  public Map<String, String> getProperties() {
    return TestCertificate.settings("tls.certificate", "tls.key");
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
  void both_tls_versions_are_served_even_if_the_client_prefers_http_2(String version)
      throws IOException {
    try (SSLSocket client = (SSLSocket) connect(server)) {
      SSLParameters parameters = client.getSSLParameters();
      parameters.setProtocols(new String[] {version});
      parameters.setApplicationProtocols(new String[] {"h2", "http/1.1"});
      client.setSSLParameters(parameters);
      write(client, LAST);

      assertEquals(List.of(200), statuses(readAll(client)));
    }
  }

  @Test
  void tls_before_1_2_is_refused() throws IOException {
    String cipher = "c013"; // TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA
    String hello = "0302" + "00".repeat(32) + "00" + "0002" + cipher + "0100";
    try (Socket client = new Socket(server.getHost(), server.getPort())) {
      client.getOutputStream().write(HexFormat.of().parseHex("160301002d" + "01000029" + hello));
      String answer = HexFormat.of().formatHex(client.getInputStream().readAllBytes());
      assertTrue(answer.endsWith("02" + "46")); // protocol_version (RFC 8446, section 6.2)
    }
  }

  /** The timeout for a request also applies to the handshake and to an incomplete record. */
  @ParameterizedTest
  @ValueSource(strings = {"nothing", "head", "record", "record after the handshake"})
  @Execution(ExecutionMode.CONCURRENT)
  @Tag("slow")
  void slow_client_is_disconnected_after_the_timeout(String last) throws IOException {
    long start = System.nanoTime();
    try (Socket client = new Socket(impatient.getHost(), impatient.getPort())) {
      if (last.equals("head") || last.endsWith("handshake")) {
        SSLSocketFactory sockets = TestCertificate.TRUST.getSocketFactory();
        Socket encrypted =
            sockets.createSocket(client, impatient.getHost(), impatient.getPort(), false);
        if (last.equals("head")) {
          write(encrypted, "POST /");
        } else {
          ((SSLSocket) encrypted).startHandshake();
          writeSlowly(client, "\u0017\u0003\u0003@\0" + "x".repeat(30));
        }
      } else if (last.equals("record")) {
        write(client, "\u0016\u0003\u0003@\0"); // the header of a record of 16 KiB
      }
      client.setSoTimeout(60_000);
      client.getInputStream().readAllBytes();
    } catch (SocketException | SSLException closed) {
      // The server closed the connection while the client was writing.
    }
    Duration waited = Duration.ofNanos(System.nanoTime() - start);
    assertTrue(waited.toSeconds() >= TIMEOUT_SECONDS, "closed after " + waited);
  }

  /** Writes a byte every half second until the server closes the connection. */
  private static void writeSlowly(Socket client, String bytes) throws IOException {
    client.setSoTimeout(500);
    for (int index = 0; index < bytes.length(); index++) {
      write(client, bytes.substring(index, index + 1));
      try {
        while (client.getInputStream().read() >= 0) {} // skips session tickets
        return;
      } catch (SocketTimeoutException open) {
        // The connection is still open, so the next byte is written.
      }
    }
  }
}
