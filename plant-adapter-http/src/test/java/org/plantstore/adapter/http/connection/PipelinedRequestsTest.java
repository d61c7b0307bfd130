package org.plantstore.adapter.http.connection;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.http.connection.SlowClients.Kind;
import org.plantstore.adapter.http.connection.SlowClients.Wait;
import org.plantstore.adapter.http.observe.Exchange;

/** The order of requests and answers on one connection. */
class PipelinedRequestsTest {

  private int reads;

  private final Completions completions = new Completions();

  private static final class Completions extends ChannelInboundHandlerAdapter {

    private int count;

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
      count++;
    }
  }

  private final ConnectionHandler first =
      new ConnectionHandler(new BodyBudget(), () -> false, ended -> {});

  private final EmbeddedChannel channel =
      new EmbeddedChannel(
          new ChannelOutboundHandlerAdapter() {
            @Override
            public void read(ChannelHandlerContext context) {
              reads++;
              context.read();
            }
          },
          first.decoder(),
          first);

  @Test
  void second_request_waits_for_the_answer_to_the_first_and_nothing_is_read_meanwhile() {
    channel.writeInbound(requests("/first", "/second"));
    int readsBefore = reads;
    channel.read();
    answer(channel, HttpResponseStatus.CONTINUE);
    assertEquals("/first", ((Exchange) channel.readInbound()).uri());
    assertSame(LastHttpContent.EMPTY_LAST_CONTENT, channel.readInbound());
    assertNull(channel.readInbound());
    assertEquals(readsBefore, reads);

    answer(channel, HttpResponseStatus.OK);
    assertEquals("/second", ((Exchange) channel.readInbound()).uri());
    channel.read();
    assertEquals(readsBefore + 1, reads);
  }

  @Test
  void unfinished_head_behind_pipelined_requests_waits_for_the_service_and_not_for_the_client() {
    ConnectionHandler handler = new ConnectionHandler(new BodyBudget(), () -> false, ended -> {});
    EmbeddedChannel connection = new EmbeddedChannel();
    SlowClients slowClients = new SlowClients(connection.eventLoop(), 1, Duration.ZERO);
    connection
        .pipeline()
        .addLast(
            slowClients.new Handler(null, handler.decoder(), handler), handler.decoder(), handler);

    connection.writeInbound(requests("/"), Unpooled.copiedBuffer("GET ", US_ASCII));
    closeTimedOut(connection);
    assertTrue(connection.isOpen());

    answer(connection, HttpResponseStatus.OK);
    connection.read();
    closeTimedOut(connection);
    assertFalse(connection.isOpen());
  }

  /** Which the framework learns from the completion of a read. */
  @ParameterizedTest
  @CsvSource({"'', 3, 0", "'', 4, 1", "Expect: 100-continue, 0, 1", "'', 5000, 1"})
  void request_is_started_with_its_whole_body_unless_that_is_large_or_announced(
      String header, int sentBytes, int started) {
    channel.pipeline().addLast(completions);
    String head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ";
    String length = sentBytes <= 4 ? "4" : "6000";
    String extra = header.isEmpty() ? "\r\n\r\n" : "\r\n" + header + "\r\n\r\n";
    channel.writeInbound(
        Unpooled.copiedBuffer(head + length + extra + "x".repeat(sentBytes), US_ASCII));

    assertEquals(started, completions.count);
  }

  @Test
  void input_waits_until_an_evicted_connection_is_released() {
    int eventLoops = Integer.MAX_VALUE; // so that only one unfinished head has room
    SlowClients slowClients = new SlowClients(channel.eventLoop(), eventLoops, Duration.ofDays(1));
    ConnectionHandler handler = new ConnectionHandler(new BodyBudget(), () -> false, ended -> {});
    SlowClients.Handler observer = slowClients.new Handler(null, handler.decoder(), handler);
    EmbeddedChannel other = new EmbeddedChannel(observer, handler.decoder(), handler);
    Wait oldest = new Wait(new EmbeddedChannel(), Kind.HEAD, 0, System.nanoTime());
    slowClients.begin(oldest);
    slowClients.begin(new Wait(new EmbeddedChannel(), Kind.HEAD, 0, System.nanoTime()));

    other.writeInbound(requests("/first"));
    assertNull(other.readInbound());

    slowClients.end(oldest); // as its handler does when the connection is released
    assertEquals("/first", ((Exchange) other.readInbound()).uri());
  }

  private static void closeTimedOut(EmbeddedChannel connection) {
    connection.advanceTimeBy(1, TimeUnit.SECONDS);
    connection.runScheduledPendingTasks();
  }

  private static void answer(EmbeddedChannel connection, HttpResponseStatus status) {
    connection.writeOutbound(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status));
    connection.runPendingTasks();
  }

  private static ByteBuf requests(String... paths) {
    String requests = String.join(" HTTP/1.1\r\nHost: x\r\n\r\nGET ", paths);
    return Unpooled.copiedBuffer("GET " + requests + " HTTP/1.1\r\nHost: x\r\n\r\n", US_ASCII);
  }
}
