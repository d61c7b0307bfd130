package org.plantstore.adapter.http.connection;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.observe.AllowedOrigins;
import org.plantstore.adapter.http.observe.Exchange;

/** The handlers of connections, without a socket: who waits for whom, and who is closed. */
class ConnectionWaitsTest {

  private static final Duration TIMEOUT = Duration.ofMinutes(1);

  private int reads;
  private int completedReads;

  /** How many bytes a slow client reads between two writes; others read everything. */
  private final Queue<Integer> clientReads = new ArrayDeque<>();

  private final RequestSequence sequence =
      new RequestSequence(() -> false, AllowedOrigins.NONE, ended -> {});
  private final EmbeddedChannel channel =
      new EmbeddedChannel() {
        @Override
        protected void doBeginRead() {
          reads++;
        }

        @Override
        protected void doWrite(ChannelOutboundBuffer output) throws Exception {
          if (clientReads.isEmpty()) {
            super.doWrite(output);
          } else {
            output.removeBytes(clientReads.remove());
          }
        }
      };
  private final List<EmbeddedChannel> clients =
      Stream.generate(EmbeddedChannel::new).limit(4).toList();

  @Test
  void second_request_waits_for_the_answer_to_the_first_and_nothing_is_read_meanwhile() {
    addHandlers();
    channel.writeInbound(requests("/first", "/second"));
    int readsBefore = reads;
    channel.read();
    answer(HttpResponseStatus.CONTINUE);
    assertEquals("/first", ((Exchange) channel.readInbound()).uri());
    assertSame(LastHttpContent.EMPTY_LAST_CONTENT, channel.readInbound());
    assertNull(channel.readInbound());
    assertEquals(readsBefore, reads);

    answer(HttpResponseStatus.OK);
    assertEquals("/second", ((Exchange) channel.readInbound()).uri());
    channel.read();
    assertEquals(readsBefore + 1, reads);
  }

  /** Which the framework learns from the completion of a read. */
  @ParameterizedTest
  @CsvSource({"4, '', 3, 0", "4, '', 4, 1", "4, Expect: 100-continue, 0, 1", "6000, '', 5000, 1"})
  void request_is_started_with_its_whole_body_unless_that_is_large_or_announced(
      int length, String header, int sentBytes, int started) {
    ChannelInboundHandlerAdapter framework =
        new ChannelInboundHandlerAdapter() {
          @Override
          public void channelReadComplete(ChannelHandlerContext context) {
            completedReads++;
          }
        };
    addHandlers();
    channel.pipeline().addLast(framework);
    String head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + length + "\r\n";
    String headers = header.isEmpty() ? "" : header + "\r\n";

    channel.writeInbound(bytes(head + headers + "\r\n" + "x".repeat(sentBytes)));

    assertEquals(started, completedReads);
  }

  @ParameterizedTest
  @ValueSource(strings = {"P", "GET ", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{"})
  void unfinished_request_behind_a_pipelined_one_waits_for_the_service_and_not_for_the_client(
      String unfinished) {
    observe(slowClients(1, Duration.ZERO));

    channel.writeInbound(requests("/"), bytes(unfinished));
    closeTimedOut();
    closeTimedOut();
    assertTrue(channel.isOpen());

    answer(HttpResponseStatus.OK);
    closeTimedOut(); // begins the time
    assertTrue(channel.isOpen());
    closeTimedOut();
    assertFalse(channel.isOpen());
  }

  @Test
  void client_that_reads_its_answer_slowly_is_closed_only_when_it_reads_nothing() {
    observe(slowClients(1, Duration.ZERO));
    clientReads.addAll(List.of(0, 1, 70_000, 0));
    channel.writeAndFlush(Unpooled.buffer().writeZero(1_000_000));
    for (int read = 0; read < 2; read++) {
      channel.flush();
      closeTimedOut();
      assertTrue(channel.isOpen());
    }

    channel.flush();
    closeTimedOut();
    assertFalse(channel.isOpen());
  }

  /** A connection that waits and gets more bytes keeps its place. */
  @Test
  void longest_wait_is_ended_when_all_together_hold_more_than_their_share() {
    SlowClients slowClients = slowClients(1, TIMEOUT);
    int third = (int) (Runtime.getRuntime().maxMemory() / 8 / 3);
    List<RequestTimeout> waiting =
        IntStream.range(0, 4).mapToObj(number -> client(number, slowClients)).toList();
    waiting.subList(0, 3).forEach(client -> slowClients.hold(client, 1));
    waiting.subList(0, 3).forEach(client -> slowClients.hold(client, third));
    assertEquals(List.of(true, true, true, true), openClients());

    slowClients.hold(waiting.get(1), 0);
    slowClients.hold(waiting.get(3), third);
    assertEquals(List.of(true, true, true, true), openClients());

    slowClients.hold(waiting.get(3), 2 * third);
    assertEquals(List.of(false, true, true, true), openClients());
  }

  @Test
  void requests_are_counted_by_their_own_bytes_and_an_idle_connection_keeps_no_large_buffer() {
    addHandlers();
    RequestDecoder first = sequence.decoder();
    String longHeader = "GET /first HTTP/1.1\r\nHost: x\r\nX-Long: " + "x".repeat(15_000);
    channel.writeInbound(bytes(longHeader));
    assertTrue(first.heldBytes() < 16_000, () -> first.heldBytes() + " bytes");
    channel.writeInbound(bytes("\r\n"));
    assertTrue(first.heldBytes() > 30_000, () -> first.heldBytes() + " bytes");

    channel.writeInbound(bytes("\r\n"), requests("/second"));
    assertEquals("/first", ((Exchange) channel.readInbound()).uri());
    assertSame(LastHttpContent.EMPTY_LAST_CONTENT, channel.readInbound());
    assertNotSame(first, sequence.decoder(), "which has a large buffer");
    answer(HttpResponseStatus.OK);
    assertEquals("/second", ((Exchange) channel.readInbound()).uri());
  }

  @Test
  void connection_is_closed_if_any_of_its_handlers_fails() {
    addHandlers();
    ChannelInboundHandlerAdapter failing =
        new ChannelInboundHandlerAdapter() {
          @Override
          public void channelRead(ChannelHandlerContext context, Object message) {
            throw new StackOverflowError("any");
          }
        };
    channel
        .pipeline()
        .addAfter(channel.pipeline().context(RequestSequence.class).name(), "any", failing);

    channel.writeInbound(requests("/first"));

    assertFalse(channel.isOpen());
  }

  private SlowClients slowClients(int eventLoops, Duration timeout) {
    return new SlowClients(channel.eventLoop(), eventLoops, timeout, timeout);
  }

  private void observe(SlowClients observing) {
    channel.pipeline().addLast(new RequestTimeout(channel, null, sequence, observing));
    addHandlers();
  }

  private RequestTimeout client(int number, SlowClients slowClients) {
    EmbeddedChannel client = clients.get(number);
    RequestTimeout timeout = new RequestTimeout(client, null, sequence, slowClients);
    client.pipeline().addFirst(new ChannelDuplexHandler());
    return timeout;
  }

  private List<Boolean> openClients() {
    return clients.stream().map(EmbeddedChannel::isOpen).toList();
  }

  private void addHandlers() {
    channel
        .pipeline()
        .addLast(sequence.decoder(), sequence, new BodyMemory(new Semaphore(Integer.MAX_VALUE)));
  }

  private void closeTimedOut() {
    channel.advanceTimeBy(500, TimeUnit.MILLISECONDS);
    channel.runScheduledPendingTasks();
  }

  private void answer(HttpResponseStatus status) {
    channel.writeOutbound(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status));
    channel.runPendingTasks();
  }

  private static ByteBuf requests(String... paths) {
    String requests = String.join(" HTTP/1.1\r\nHost: x\r\n\r\nGET ", paths);
    return bytes("GET " + requests + " HTTP/1.1\r\nHost: x\r\n\r\n");
  }

  private static ByteBuf bytes(String text) {
    return Unpooled.copiedBuffer(text, US_ASCII);
  }
}
