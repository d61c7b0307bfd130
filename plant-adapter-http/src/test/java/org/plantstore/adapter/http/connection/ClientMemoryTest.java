package org.plantstore.adapter.http.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.http.connection.RawRequests.connect;
import static org.plantstore.adapter.http.connection.RawRequests.createRequest;
import static org.plantstore.adapter.http.connection.RawRequests.read;
import static org.plantstore.adapter.http.connection.RawRequests.readAll;
import static org.plantstore.adapter.http.connection.RawRequests.write;

import ch.qos.logback.classic.spi.ILoggingEvent;
import io.micronaut.context.annotation.Property;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import jakarta.inject.Inject;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.http.Log;
import org.plantstore.adapter.http.Tokens;

/** What slow clients make the service hold, and what becomes of them when that is too much. */
@MicronautTest
@Property(name = "jwt.secret", value = Tokens.SECRET)
@Timeout(60)
class ClientMemoryTest {

  private static final String OK = "HTTP/1.1 200";
  private static final String UNAUTHORIZED = "HTTP/1.1 401";

  @Inject EmbeddedServer server;
  @Inject ClientMemory memory;

  @BeforeEach
  void reset() {
    await(() -> memory.heldBytes() == 0);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      ignoreLeadingAndTrailingWhitespace = false,
      value = {
        "GET /nothing| HTTP/1.1~Host: x~~",
        "GET /nothing HTTP/1.1~Host: x|~~",
        "GET /nothing HTTP/1.1~Host: x~|~",
        "POST /plants HTTP/1.1~Host: x~Content-Length: 3~~|123",
        "POST /plants HTTP/1.1~Host: x~Transfer-Encoding: chunked~~00|~~",
        "POST /plants HTTP/1.1~Host: x~Transfer-Encoding: chunked~~1~x~0~X:|~~",
      })
  void request_counts_until_it_is_whole(String begin, String rest) throws IOException {
    try (Socket client = connect(server)) {
      for (int time = 0; time < 2; time++) {
        write(client, begin.replace("~", "\r\n"));
        await(() -> memory.heldBytes() > 0);
        write(client, rest.replace("~", "\r\n"));
        await(() -> memory.heldBytes() == 0);
      }
      assertEquals(UNAUTHORIZED, read(client, UNAUTHORIZED));

      write(client, begin.replace("~", "\r\n"));
      await(() -> memory.heldBytes() > 0);
    }
    await(() -> memory.heldBytes() == 0);
  }

  /** A few bytes keep all of the buffer that they were read into, which grows with what comes. */
  @Test
  void buffer_that_is_kept_counts_as_a_whole() throws IOException {
    try (Socket client = connect(server)) {
      String tag = "x".repeat(1_000_000);
      write(client, createRequest("", "{\"id\":1,\"name\":\"fern\",\"tag\":\"" + tag + "\"}"));
      assertEquals(OK, read(client, OK));
      write(client, "GET /");

      await(() -> memory.heldBytes() > 16 * 1024);
    }
  }

  @Test
  void body_counts_until_it_is_whole() throws IOException {
    String create = createRequest("", "{\"id\":1,\"name\":\"" + "x".repeat(3_000) + "\"}");
    try (Socket client = connect(server)) {
      write(client, create.substring(0, create.length() - 3_000));
      await(() -> memory.heldBytes() > 0);
      long held = memory.heldBytes();
      write(client, create.substring(create.length() - 3_000, create.length() - 1));
      await(() -> memory.heldBytes() > held + 2_500);
      write(client, create.substring(create.length() - 1));

      assertEquals(OK, read(client, OK));
      await(() -> memory.heldBytes() == 0);
    }
  }

  /** Whoever was answered is nobody whose token counts any more. */
  @Test
  void body_that_is_owed_after_the_answer_is_that_of_a_stranger() throws IOException {
    ChannelHandlerContext other = otherConnection();
    try (Socket client = connect(server)) {
      write(client, "GET /page/page.css HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n");
      assertEquals(OK, read(client, OK));
      await(() -> memory.heldBytes() > 0);
      memory.hold(other, ClientMemory.LIMIT_BYTES, true);

      readAll(client); // which ends with the connection
      assertTrue(other.channel().isOpen());
    } finally {
      memory.hold(other, 0, true);
    }
  }

  /** It is closed last, after younger ones without a token. */
  @Test
  void request_whose_token_is_valid_counts_apart() throws IOException {
    ChannelHandlerContext other = otherConnection();
    String create = createRequest("");
    try (Socket client = connect(server);
        Socket stranger = connect(server)) {
      write(client, create.substring(0, create.length() - 1));
      await(() -> memory.heldBytes() > create.length());
      long held = memory.heldBytes();
      write(stranger, "GET /");
      await(() -> memory.heldBytes() > held);
      memory.hold(other, ClientMemory.LIMIT_BYTES - held, true);
      assertEquals("", readAll(stranger));
      write(client, create.substring(create.length() - 1));
      assertEquals(OK, read(client, OK));

      memory.hold(other, 1, true);
      write(client, create.substring(0, create.length() - 1));
      await(() -> memory.heldBytes() > create.length());
      memory.hold(other, ClientMemory.LIMIT_BYTES, false);
      readAll(client); // which ends with the connection
      assertTrue(other.channel().isOpen());
    } finally {
      memory.hold(other, 0, true);
    }
  }

  @Test
  void answer_that_is_not_read_counts() throws IOException {
    try (Socket client = new Socket()) {
      client.setReceiveBufferSize(4 * 1024);
      client.connect(new InetSocketAddress(server.getHost(), server.getPort()));
      String document = "GET /page/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n";
      write(client, document + "\r\n" + document + "Connection: close\r\n\r\n");
      await(() -> memory.heldBytes() > 0);
      readAll(client);

      await(() -> memory.heldBytes() == 0);
    }
  }

  @Test
  void who_holds_for_longest_is_closed_and_others_are_served() throws IOException {
    ChannelHandlerContext other = otherConnection();
    try (Socket oldest = connect(server);
        Socket newest = connect(server);
        Log log = new Log(ClientMemory.class.getName())) {
      write(oldest, "GET /");
      await(() -> memory.heldBytes() > 0);
      memory.hold(other, ClientMemory.LIMIT_BYTES, true);
      assertEquals("", readAll(oldest));
      assertTrue(other.channel().isOpen());

      String create = createRequest("");
      write(newest, create.substring(0, 10));
      await(() -> !other.channel().isOpen());
      write(newest, create.substring(10));
      assertEquals(OK, read(newest, OK));
      await(() -> memory.heldBytes() == 0);
      assertEquals(
          List.of(
              "Connections are closed before their time-out because unfinished requests and unread"
                  + " answers take "
                  + ClientMemory.LIMIT_BYTES
                  + " bytes"),
          log.await(1).stream().map(ILoggingEvent::getFormattedMessage).toList(),
          "one line for both");
    }
    assertFalse(other.channel().isOpen());
  }

  private static ChannelHandlerContext otherConnection() {
    return new EmbeddedChannel(new ChannelInboundHandlerAdapter()).pipeline().firstContext();
  }

  private static void await(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
    }
  }
}
