package org.plantstore.adapter.http.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.plantstore.adapter.http.observe.RequestMemory;
import org.plantstore.adapter.http.observe.UnansweredExchanges;

/** Many requests at once. */
class RequestDecoderTest {

  private static final List<String> ADDRESSES =
      IntStream.range(0, 100).mapToObj(request -> "/" + request).toList();

  private final List<String> done = new ArrayList<>();
  private final EmbeddedChannel channel = new EmbeddedChannel();
  private int reads;

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

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
      done.add(event instanceof ChannelInputShutdownEvent ? "end" : "something else");
    }
  }

  private final class CountedReads extends ChannelOutboundHandlerAdapter {

    @Override
    public void read(ChannelHandlerContext context) {
      reads++;
      context.read();
    }
  }

  @BeforeEach
  void install() {
    ConnectionDeadline deadline =
        new ConnectionDeadline(Duration.ofSeconds(30), new ClientMemory());
    UnansweredExchanges unanswered = new UnansweredExchanges(new RequestMemory(), exchange -> {});
    RequestDecoder decoder = new RequestDecoder(new HttpDecoderConfig(), deadline, unanswered);
    channel.config().setAutoRead(false);
    channel
        .pipeline()
        .addLast(
            new CountedReads(), deadline, new StrictCodec(decoder, unanswered), new Recorder());
  }

  @Test
  void many_requests_at_once_let_others_have_their_turn() {
    channel.writeInbound(requests());
    awaitTurns();

    assertTrue(done.indexOf("other") < 10, done.toString());
    done.remove("other");
    assertEquals(ADDRESSES, done);
  }

  @Test
  void requests_of_who_does_not_read_wait_and_so_does_the_end_behind_them() {
    setWritable(false);
    channel.writeInbound(requests());
    channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
    awaitTurns();
    assertEquals(List.of(), done);

    setWritable(true);
    awaitTurns();

    done.remove("other");
    assertEquals(ADDRESSES, done.subList(0, ADDRESSES.size()));
    assertEquals(List.of("end"), done.subList(ADDRESSES.size(), done.size()));
  }

  /** A decoder that has decoded nothing asks for more by itself. */
  @Test
  void who_does_not_read_is_not_read_from() {
    setWritable(false);
    channel.writeInbound(requests());
    awaitTurns();
    assertEquals(0, reads);

    setWritable(true);
    awaitTurns();
    assertTrue(reads > 0, "read from for ever no more");
  }

  private void awaitTurns() {
    ADDRESSES.forEach(address -> channel.runPendingTasks());
  }

  private void setWritable(boolean isWritable) {
    channel.unsafe().outboundBuffer().setUserDefinedWritability(1, isWritable);
  }

  private static ByteBuf requests() {
    String requests =
        ADDRESSES.stream()
            .map(address -> "GET " + address + " HTTP/1.1\r\nHost: x\r\n\r\n")
            .collect(Collectors.joining());
    return Unpooled.copiedBuffer(requests, StandardCharsets.US_ASCII);
  }
}
