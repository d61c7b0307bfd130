package org.plantstore.adapter.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Many requests at once. */
class RequestDecoderTest {

  private static final int REQUESTS = 100;

  private final List<String> done = new ArrayList<>();

  /** What else is to be done is wanted when the first request comes. */
  private final class Recorder extends ChannelInboundHandlerAdapter {

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof HttpRequest request) {
        if (done.isEmpty()) {
          context.executor().execute(() -> done.add("other"));
        }
        done.add(request.uri());
      }
    }
  }

  @Test
  void many_requests_at_once_let_others_have_their_turn() {
    ConnectionDeadline deadline =
        new ConnectionDeadline(Duration.ofSeconds(30), new ClientMemory());
    UnansweredExchanges unanswered = new UnansweredExchanges(new RequestMemory(), exchange -> {});
    RequestDecoder decoder = new RequestDecoder(new HttpDecoderConfig(), deadline, unanswered);
    EmbeddedChannel channel =
        new EmbeddedChannel(deadline, new StrictCodec(decoder, unanswered), new Recorder());
    StringBuilder requests = new StringBuilder();
    IntStream.range(0, REQUESTS)
        .forEach(request -> requests.append("GET /" + request + " HTTP/1.1\r\nHost: x\r\n\r\n"));

    channel.writeInbound(Unpooled.copiedBuffer(requests, StandardCharsets.US_ASCII));

    assertTrue(done.indexOf("other") < 10, done.toString());
    done.remove("other");
    assertEquals(IntStream.range(0, REQUESTS).mapToObj(request -> "/" + request).toList(), done);
  }
}
