package org.plantstore.adapter.http.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
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
    write(HttpResponseStatus.CONTINUE);
    assertSame(first, channel.readInbound());
    assertNull(channel.readInbound());
    assertEquals(readsBefore, reads);

    write(HttpResponseStatus.OK);
    assertSame(second, channel.readInbound());
    channel.read();
    assertEquals(readsBefore + 1, reads);
  }

  private void write(HttpResponseStatus status) {
    channel.writeOutbound(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status));
    channel.runPendingTasks();
  }

  private static Exchange request() {
    return new Exchange(
        HttpVersion.HTTP_1_1,
        HttpMethod.POST,
        "/plants",
        new DefaultHttpHeaders().set("Host", "x"));
  }
}
