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
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.connection.SlowClients.Kind;
import org.plantstore.adapter.http.connection.SlowClients.Wait;
import org.plantstore.adapter.http.observe.AllowedOrigins;
import org.plantstore.adapter.http.observe.Exchange;

/** The handlers of connections, without a socket: who waits for whom, and who is closed. */
class ConnectionWaitsTest {

  private static final Duration TIMEOUT = Duration.ofMinutes(1);

  private int reads;
  private int completedReads;

  private final CurrentRequest current = new CurrentRequest();
  private final RequestDecoder decoder = new RequestDecoder(current);
  private final EmbeddedChannel channel =
      new EmbeddedChannel() {
        @Override
        protected void doBeginRead() {
          reads++;
        }
      };
  private final List<EmbeddedChannel> clients =
      Stream.generate(EmbeddedChannel::new).limit(9).toList();

  /** So many event loops share the memory that each has room for two, or for eight handshakes. */
  private final SlowClients slowClients =
      slowClients((int) (Runtime.getRuntime().maxMemory() / 8 / (5 * 16 * 1024) / 2), TIMEOUT);

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
    assertTrue(channel.isOpen());

    answer(HttpResponseStatus.OK);
    channel.read();
    closeTimedOut();
    assertFalse(channel.isOpen());
  }

  @Test
  void one_unfinished_head_has_room_and_input_waits_until_an_evicted_connection_is_released() {
    SlowClients ofManyEventLoops = slowClients(Integer.MAX_VALUE, TIMEOUT);
    observe(ofManyEventLoops);
    Wait oldest = new Wait(clients.get(0), Kind.HEAD, 0, System.nanoTime());
    ofManyEventLoops.begin(oldest);
    ofManyEventLoops.begin(new Wait(clients.get(1), Kind.HEAD, 0, System.nanoTime()));
    assertTrue(clients.get(1).isOpen());
    assertFalse(clients.get(0).isOpen());

    channel.writeInbound(requests("/first"));
    assertNull(channel.readInbound());

    ofManyEventLoops.end(oldest); // as its handler does when the connection is released
    assertEquals("/first", ((Exchange) channel.readInbound()).uri());
  }

  @ParameterizedTest
  @CsvSource({"HEAD, 0, 7", "ANSWER, 0, 7", "TLS, 0, 1", "BODY, 0, 0", "BODY, 2000, 1"})
  void oldest_is_closed_when_more_wait_than_there_is_memory_for(
      Kind kind, long headBytes, int closed) {
    long start = System.nanoTime() - clients.size();
    for (int client = 0; client < clients.size(); client++) {
      slowClients.begin(new Wait(clients.get(client), kind, headBytes, start + client));
    }

    for (int client = 0; client < clients.size(); client++) {
      assertEquals(client >= closed, clients.get(client).isOpen(), "client " + client);
    }
  }

  @Test
  void body_after_the_largest_head_has_room() {
    slowClients(Integer.MAX_VALUE, TIMEOUT)
        .begin(new Wait(channel, Kind.BODY, 32 * 1024, System.nanoTime()));

    assertTrue(channel.isOpen());
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
        .addAfter(channel.pipeline().context(BodyMemory.class).name(), "any", failing);

    channel.writeInbound(requests("/first"));

    assertFalse(channel.isOpen());
  }

  @Test
  void all_kinds_share_the_memory() {
    long now = System.nanoTime();
    slowClients.begin(new Wait(clients.get(1), Kind.ANSWER, 0, now));
    slowClients.begin(new Wait(clients.get(0), Kind.HEAD, 0, now - 1));
    slowClients.begin(new Wait(clients.get(2), Kind.TLS, 0, now));

    assertEquals(
        List.of(false, true, true),
        clients.stream().limit(3).map(EmbeddedChannel::isOpen).toList());
  }

  private SlowClients slowClients(int eventLoops, Duration timeout) {
    return new SlowClients(channel.eventLoop(), eventLoops, timeout);
  }

  private void observe(SlowClients observing) {
    channel.pipeline().addLast(new ClientWaits(observing, null, decoder, current));
    addHandlers();
  }

  private void addHandlers() {
    channel
        .pipeline()
        .addLast(
            decoder,
            new ConnectionEnd(current, () -> false),
            new RequestSequence(current, decoder, new AllowedOrigins(List.of()), ended -> {}),
            new MalformedRequests(current),
            new BodyMemory(current, new BodyBudget()),
            new FailedConnections(current));
  }

  private void closeTimedOut() {
    channel.advanceTimeBy(1, TimeUnit.SECONDS);
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
