package org.plantstore.adapter.http.connection;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.util.ArrayDeque;
import java.util.ArrayList;
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
import org.plantstore.adapter.http.cors.AllowedOrigins;

/** Tests the handlers of a connection without a socket: what they wait for, and when they close. */
class ConnectionWaitsTest {

  private static final String COMPLETE = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

  private final Client channel = new Client();

  /** The framework starts a request when a read completes. */
  @ParameterizedTest
  @CsvSource({"4, '', 3, 0", "4, '', 4, 1", "4, Expect: 100-continue, 0, 1", "6000, '', 5000, 1"})
  void request_starts_when_its_body_is_complete_unless_the_body_is_large_or_announced(
      int length, String header, int sentBytes, int started) {
    String head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + length + "\r\n";
    String headers = header.isEmpty() ? "" : header + "\r\n";

    channel.writeInbound(bytes(head + headers + "\r\n" + "x".repeat(sentBytes)));

    assertEquals(started, channel.completedReads);
  }

  @ParameterizedTest
  @ValueSource(strings = {"P", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{"})
  void timeout_of_a_pipelined_request_begins_after_the_previous_response(String incomplete) {
    channel.writeInbound(bytes(COMPLETE + incomplete));
    channel.sweep(20);
    assertTrue(channel.isOpen());

    channel.respond();
    channel.sweep(3); // the timeout of one second begins with the first sweep
    assertTrue(channel.isOpen());
    channel.sweep(1);
    assertFalse(channel.isOpen());
  }

  /** Each sweep advances the clock of the timeouts, so only one may be scheduled at a time. */
  @Test
  void earlier_connections_do_not_shorten_the_timeout() {
    SlowClients slowClients = new SlowClients(channel.eventLoop(), new RequestMemory(1), 5, 60);
    for (int connection = 0; connection < 10; connection++) {
      new Client(slowClients).close();
    }
    Client client = new Client(slowClients);
    client.writeInbound(bytes("GET"));
    channel.sweep(11);
    assertTrue(client.isOpen());
    channel.sweep(1);
    assertFalse(client.isOpen());
  }

  @Test
  void client_that_reads_slowly_is_disconnected_only_when_it_stops_reading() {
    channel.clientReads.addAll(List.of(0, 1, 70_000, 0));
    channel.writeAndFlush(Unpooled.buffer().writeZero(1_000_000));
    for (int read = 0; read < 2; read++) {
      channel.flush();
      channel.sweep(3);
      assertTrue(channel.isOpen());
    }

    channel.flush();
    channel.sweep(1);
    assertFalse(channel.isOpen());
  }

  /** Nothing is lost, because unread input remains in the socket. */
  @Test
  void requests_wait_for_memory_until_another_ends_or_is_closed_after_two_seconds() {
    int eventLoops = (int) (Runtime.getRuntime().maxMemory() / 8 / (50 * 1024));
    SlowClients slowClients =
        new SlowClients(channel.eventLoop(), new RequestMemory(eventLoops), 60, 60);
    List<Client> clients = Stream.generate(() -> new Client(slowClients)).limit(5).toList();
    assertEquals(List.of(0, 0, 0, 0, 0), reads(clients));
    clients.get(0).writeInbound(bytes("x".repeat(8_000)));
    channel.sweep(1);
    clients.subList(1, 3).forEach(client -> client.writeInbound(bytes("x".repeat(8_000))));
    assertEquals(List.of(1, 1, 1, 0, 0), reads(clients)); // the third is exempt
    clients.subList(3, 5).forEach(client -> client.writeInbound(bytes("GET")));
    assertEquals(List.of(1, 1, 1, 0, 0), reads(clients));

    clients.get(2).writeInbound(bytes(" / HTTP/1.1\r\nHost: x\r\n\r\n"));
    assertEquals(List.of(1, 1, 1, 0, 1), reads(clients)); // the newest is resumed first
    clients.get(4).writeInbound(bytes(" / HTTP/1.1\r\nX: " + "x".repeat(8_000)));
    assertEquals(List.of(1, 1, 1, 0, 2), reads(clients));
    channel.sweep(4);
    assertEquals(5, clients.stream().filter(EmbeddedChannel::isOpen).count());

    channel.sweep(1);
    assertEquals(
        List.of(false, true, true, true, true),
        clients.stream().map(EmbeddedChannel::isOpen).toList());
    assertEquals(0, reads(clients).get(3));
    channel.sweep(4); // The limit is no longer exceeded, but the fifth still delays the fourth.
    assertFalse(clients.get(4).isOpen());
    assertEquals(1, reads(clients).get(3));
  }

  /** If old requests were never resumed, connections whose clients have left could stay open. */
  @Test
  void newest_requests_are_resumed_first_but_the_oldest_are_resumed_too() {
    int eventLoops = (int) (Runtime.getRuntime().maxMemory() / 8 / (4 * 64 * 1024));
    RequestMemory memory = new RequestMemory(eventLoops);
    memory.newShare(() -> {}).hold(memory.maxBytes() + 1);
    List<Integer> resumed = new ArrayList<>();
    List<RequestMemory.Share> shares =
        IntStream.range(0, 20).mapToObj(id -> memory.newShare(() -> resumed.add(id))).toList();
    shares.forEach(share -> assertFalse(share.mayRead()));
    int exempt = resumed.size();
    List.copyOf(resumed).forEach(id -> shares.get(id).release());

    List<Integer> later = resumed.subList(exempt, 2 * exempt);
    assertTrue(later.containsAll(List.of(exempt, 19)), later::toString);
  }

  private static List<Integer> reads(List<Client> clients) {
    return clients.stream().map(client -> client.reads).toList();
  }

  @Test
  void every_promise_completes() {
    channel.writeInbound(bytes(COMPLETE));
    assertTrue(channel.respond().isSuccess());
    channel.writeInbound(bytes("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
    assertTrue(channel.respond().isSuccess());
    assertFalse(channel.isOpen());

    Client draining = new Client();
    draining.isDraining = true;
    ChannelFuture closed = draining.pipeline().close();
    draining.advanceTimeBy(4, TimeUnit.SECONDS);
    draining.runScheduledPendingTasks();
    assertFalse(closed.isDone(), "the client may already have sent its first request");
    draining.advanceTimeBy(1, TimeUnit.SECONDS);
    draining.runScheduledPendingTasks();
    assertTrue(closed.isSuccess());
    assertFalse(draining.isOpen());
  }

  /** A scheduled task would keep the request of a closed connection in memory. */
  @Test
  void connection_that_its_client_closes_during_shutdown_leaves_no_task() {
    channel.isDraining = true;
    channel.writeInbound(bytes("GET"));
    channel.pipeline().close();
    channel.unsafe().close(channel.voidPromise());
    channel.sweep(1);
    assertEquals(-1, channel.runScheduledPendingTasks());
  }

  /** A new decoder could decode the bytes that follow malformed input as another request. */
  @Test
  void decoder_of_a_large_malformed_body_is_not_replaced() {
    RequestDecoder decoder = channel.pipeline().get(RequestDecoder.class);
    String body = "1400\r\n" + "x".repeat(5_120) + "\r\nmalformed\r\n";
    channel.writeInbound(
        bytes("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + body));
    assertSame(decoder, channel.pipeline().get(RequestDecoder.class));
  }

  /** The memory grows with the number of received bytes, up to the maximum size of a head. */
  @Test
  void memory_of_a_request_is_estimated_and_an_idle_connection_keeps_no_large_buffer() {
    RequestDecoder first = channel.pipeline().get(RequestDecoder.class);
    channel.writeInbound(bytes("GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + "x".repeat(15_000)));
    assertHeld(34_000, 35_000);
    channel.writeInbound(bytes("\r\nTransfer-Encoding: chunked\r\n\r\n"));
    for (int chunk = 0; chunk < 100; chunk++) {
      channel.writeInbound(bytes("1;a=" + "b".repeat(8_000) + "\r\n"), bytes("X\r\n"));
    }
    assertHeld(69_000, 70_000);

    channel.writeInbound(bytes("0\r\n\r\n" + COMPLETE));
    RequestDecoder second = channel.pipeline().get(RequestDecoder.class);
    assertNotSame(first, second, "the decoder with the large buffer is replaced");
    assertHeld(0, 0);
    channel.respond();
    channel.respond();
    channel.writeInbound(bytes("GET"));
    assertHeld(4_000, 4_200);
  }

  /** Fills the rest of the memory to find out how much of it the channel holds. */
  private void assertHeld(int from, int to) {
    RequestMemory.Share rest = channel.memory.newShare(() -> {});
    rest.hold(channel.memory.maxBytes() - from + 1);
    assertTrue(channel.memory.isExhausted(), () -> "fewer than " + from + " bytes are held");
    rest.hold(channel.memory.maxBytes() - to);
    assertFalse(channel.memory.isExhausted(), () -> "more than " + to + " bytes are held");
    rest.release();
  }

  private static ByteBuf bytes(String text) {
    return Unpooled.copiedBuffer(text, US_ASCII);
  }

  private static final class Client extends EmbeddedChannel {

    private final RequestMemory memory = new RequestMemory(1);

    /** The numbers of bytes that a slow client reads per write. Other clients read everything. */
    private final Queue<Integer> clientReads = new ArrayDeque<>();

    private int completedReads;
    private int reads;
    private boolean isDraining;

    Client() {
      install(new SlowClients(eventLoop(), memory, 1, 60));
    }

    Client(SlowClients slowClients) {
      install(slowClients);
    }

    private void install(SlowClients slowClients) {
      freezeTime();
      config().setAutoRead(false);
      Connection connection = new Connection(this, slowClients);
      BodyMemory body = new BodyMemory(new Semaphore(Integer.MAX_VALUE));
      ChannelInboundHandlerAdapter framework =
          new ChannelInboundHandlerAdapter() {
            @Override
            public void channelReadComplete(ChannelHandlerContext context) {
              completedReads++;
            }
          };
      pipeline()
          .addLast(
              connection,
              new RequestDecoder(connection),
              new RequestFlow(connection, body, () -> isDraining, AllowedOrigins.NONE, ended -> {}),
              framework);
      reads = 0;
    }

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

    private void sweep(int times) {
      for (int time = 0; time < times; time++) {
        advanceTimeBy(500, TimeUnit.MILLISECONDS);
        runScheduledPendingTasks();
      }
    }

    private ChannelFuture respond() {
      ChannelFuture written =
          writeAndFlush(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK));
      runPendingTasks();
      return written;
    }
  }
}
