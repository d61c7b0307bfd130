package org.plantstore.adapter.http.connection;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.cors.AllowedOrigins;

/** The handlers of connections, without a socket: who waits for whom, and who is closed. */
class ConnectionWaitsTest {

  private static final String WHOLE = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

  private final Connection channel = new Connection();

  /** Which the framework learns from the completion of a read. */
  @ParameterizedTest
  @CsvSource({"4, '', 3, 0", "4, '', 4, 1", "4, Expect: 100-continue, 0, 1", "6000, '', 5000, 1"})
  void request_is_started_with_its_whole_body_unless_that_is_large_or_announced(
      int length, String header, int sentBytes, int started) {
    String head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + length + "\r\n";
    String headers = header.isEmpty() ? "" : header + "\r\n";

    channel.writeInbound(bytes(head + headers + "\r\n" + "x".repeat(sentBytes)));

    assertEquals(started, channel.completedReads);
  }

  @ParameterizedTest
  @ValueSource(strings = {"P", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{"})
  void unfinished_request_behind_a_pipelined_one_waits_for_the_service_and_not_for_the_client(
      String unfinished) {
    channel.observe(new SlowClients(channel.eventLoop(), 1, 0, 1));

    channel.writeInbound(bytes(WHOLE + unfinished));
    channel.sweep();
    channel.sweep();
    assertTrue(channel.isOpen());

    channel.answer();
    channel.sweep(); // begins the time
    assertTrue(channel.isOpen());
    channel.sweep();
    assertFalse(channel.isOpen());
  }

  @Test
  void client_that_reads_its_answer_slowly_is_closed_only_when_it_reads_nothing() {
    channel.observe(new SlowClients(channel.eventLoop(), 1, 0, 1));
    channel.clientReads.addAll(List.of(0, 1, 70_000, 0));
    channel.writeAndFlush(Unpooled.buffer().writeZero(1_000_000));
    for (int read = 0; read < 2; read++) {
      channel.flush();
      channel.sweep();
      assertTrue(channel.isOpen());
    }

    channel.flush();
    channel.sweep();
    assertFalse(channel.isOpen());
  }

  /** A connection that waits and gets more bytes keeps its place; a single one has room. */
  @Test
  void longest_wait_is_ended_when_all_together_hold_more_than_their_share() {
    int ofThree = (int) (Runtime.getRuntime().maxMemory() / 8 / (15 * 1024));
    SlowClients slowClients = new SlowClients(channel.eventLoop(), ofThree, 60, 60);
    List<Connection> clients = Stream.generate(Connection::new).limit(5).toList();
    clients.forEach(client -> client.observe(slowClients));
    clients.subList(0, 3).forEach(client -> client.writeInbound(bytes("GET / HTTP/1.1\r\n")));
    clients.get(0).writeInbound(bytes("Host"));
    clients.get(1).writeInbound(bytes("Host: x\r\n\r\n")); // waits no longer
    clients.get(3).writeInbound(bytes("GET"));
    assertEquals(5, clients.stream().filter(EmbeddedChannel::isOpen).count());

    clients.get(4).writeInbound(bytes("GET"));
    assertEquals(
        List.of(false, true, true, true, true),
        clients.stream().map(EmbeddedChannel::isOpen).toList());

    clients.get(4).writeInbound(bytes("x".repeat(15 * 1024)));
    assertEquals(
        List.of(false, true, false, false, true),
        clients.stream().map(EmbeddedChannel::isOpen).toList());
  }

  /** Of chunks only the longest line is held; otherwise one client would end all other waits. */
  @Test
  void requests_are_counted_by_their_own_bytes_and_an_idle_connection_keeps_no_large_buffer() {
    RequestDecoder first = channel.sequence.decoder();
    channel.writeInbound(bytes("GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + "x".repeat(15_000)));
    assertHeld(first, 15_000, 16_000);
    channel.writeInbound(bytes("\r\nTransfer-Encoding: chunked\r\n\r\n"));
    for (int chunk = 0; chunk < 100; chunk++) {
      channel.writeInbound(bytes("1;a=" + "b".repeat(8_000) + "\r\n"), bytes("X\r\n"));
    }
    assertHeld(first, 30_000, 32_000);

    channel.writeInbound(bytes("0\r\n\r\n" + WHOLE));
    assertNotSame(first, channel.sequence.decoder(), "which has a large buffer");
    assertHeld(channel.sequence.decoder(), 1, 100);
  }

  private static void assertHeld(RequestDecoder decoder, int from, int to) {
    int bytes = decoder.heldBytes();
    assertTrue(bytes >= from && bytes < to, () -> "held: " + bytes);
  }

  private static ByteBuf bytes(String text) {
    return Unpooled.copiedBuffer(text, US_ASCII);
  }

  private static final class Connection extends EmbeddedChannel {

    private final RequestSequence sequence =
        new RequestSequence(() -> false, AllowedOrigins.NONE, ended -> {});

    /** How many bytes a slow client reads between two writes; others read everything. */
    private final Queue<Integer> clientReads = new ArrayDeque<>();

    private int completedReads;

    Connection() {
      ChannelInboundHandlerAdapter framework =
          new ChannelInboundHandlerAdapter() {
            @Override
            public void channelReadComplete(ChannelHandlerContext context) {
              completedReads++;
            }
          };
      BodyMemory memory = new BodyMemory(sequence, new Semaphore(Integer.MAX_VALUE));
      pipeline().addLast(sequence.decoder(), sequence, memory, framework);
    }

    private void observe(SlowClients slowClients) {
      pipeline().addFirst(slowClients.new Client(this, sequence));
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer output) throws Exception {
      if (clientReads.isEmpty()) {
        super.doWrite(output);
      } else {
        output.removeBytes(clientReads.remove());
      }
    }

    private void sweep() {
      advanceTimeBy(500, TimeUnit.MILLISECONDS);
      runScheduledPendingTasks();
    }

    private void answer() {
      writeOutbound(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK));
      runPendingTasks();
    }
  }
}
