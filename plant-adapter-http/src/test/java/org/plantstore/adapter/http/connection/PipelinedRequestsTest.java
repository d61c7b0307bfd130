package org.plantstore.adapter.http.connection;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.plantstore.adapter.http.observe.Exchange;

/** The order of requests and answers on one connection. */
class PipelinedRequestsTest {

  private int reads;

  private final EmbeddedChannel channel =
      new EmbeddedChannel(
          new ChannelOutboundHandlerAdapter() {
            @Override
            public void read(ChannelHandlerContext context) {
              reads++;
              context.read();
            }
          },
          new ConnectionHandler(new BodyBudget(), () -> false, ended -> {}));

  @Test
  void second_request_waits_for_the_answer_to_the_first_and_nothing_is_read_meanwhile() {
    Exchange first = request();
    Exchange second = request();

    channel.writeInbound(first, second);
    int readsBefore = reads;
    channel.read();
    answer(channel, HttpResponseStatus.CONTINUE);
    assertSame(first, channel.readInbound());
    assertNull(channel.readInbound());
    assertEquals(readsBefore, reads);

    answer(channel, HttpResponseStatus.OK);
    assertSame(second, channel.readInbound());
    channel.read();
    assertEquals(readsBefore + 1, reads);
  }

  @Test
  void unfinished_head_behind_pipelined_requests_waits_for_the_service_and_not_for_the_client() {
    RequestDecoder decoder = new RequestDecoder();
    ConnectionHandler handler = new ConnectionHandler(new BodyBudget(), () -> false, ended -> {});
    EmbeddedChannel connection = new EmbeddedChannel();
    SlowClients slowClients = new SlowClients(connection.eventLoop(), 1, Duration.ZERO);
    connection
        .pipeline()
        .addLast(slowClients.new Handler(null, decoder, handler), decoder, handler);

    connection.writeInbound(
        Unpooled.copiedBuffer("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(2) + "GET ", US_ASCII));
    closeTimedOut(connection);
    assertTrue(connection.isOpen());

    answer(connection, HttpResponseStatus.OK);
    connection.read();
    closeTimedOut(connection);
    assertFalse(connection.isOpen());
  }

  private static void closeTimedOut(EmbeddedChannel connection) {
    connection.advanceTimeBy(1, TimeUnit.SECONDS);
    connection.runScheduledPendingTasks();
  }

  private static void answer(EmbeddedChannel connection, HttpResponseStatus status) {
    connection.writeOutbound(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status));
    connection.runPendingTasks();
  }

  private static Exchange request() {
    return new Exchange(
        HttpVersion.HTTP_1_1,
        HttpMethod.POST,
        "/plants",
        new DefaultHttpHeaders().set("Host", "x"));
  }
}
