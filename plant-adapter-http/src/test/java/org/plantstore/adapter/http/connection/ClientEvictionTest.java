package org.plantstore.adapter.http.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.http.connection.SlowClients.Kind;
import org.plantstore.adapter.http.connection.SlowClients.Wait;

/** Which connections {@link SlowClients} closes, without a socket. */
class ClientEvictionTest {

  private static final Duration TIMEOUT = Duration.ofMinutes(1);

  private final EmbeddedChannel timer = new EmbeddedChannel();
  private final List<EmbeddedChannel> clients =
      Stream.generate(EmbeddedChannel::new).limit(9).toList();

  /** So many event loops share the memory that each has room for two, or for eight handshakes. */
  private final SlowClients slowClients =
      new SlowClients(
          timer.eventLoop(),
          (int) (Runtime.getRuntime().maxMemory() / 8 / (5 * 16 * 1024) / 2),
          TIMEOUT);

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
  void one_connection_may_wait_however_many_event_loops_share_the_memory() {
    SlowClients ofMany = new SlowClients(timer.eventLoop(), Integer.MAX_VALUE, TIMEOUT);

    ofMany.begin(new Wait(clients.get(0), Kind.HEAD, 0, System.nanoTime()));

    assertTrue(clients.get(0).isOpen());
  }

  @Test
  void all_kinds_share_the_memory() {
    long now = System.nanoTime();
    slowClients.begin(new Wait(clients.get(1), Kind.ANSWER, 0, now));
    slowClients.begin(new Wait(clients.get(0), Kind.HEAD, 0, now - 1));
    slowClients.begin(new Wait(clients.get(2), Kind.TLS, 0, now));

    assertOnlyFirstIsClosed();
  }

  @Test
  void one_that_waits_longer_than_the_timeout_is_closed() {
    long now = System.nanoTime();
    slowClients.begin(new Wait(clients.get(0), Kind.HEAD, 0, now - TIMEOUT.toNanos()));
    slowClients.begin(new Wait(clients.get(1), Kind.BODY, 0, now));
    slowClients.begin(new Wait(clients.get(2), Kind.BODY, 0, now - TIMEOUT.toNanos()));
    slowClients.end(new Wait(clients.get(2), Kind.BODY, 0, now - TIMEOUT.toNanos()));

    timer.advanceTimeBy(1, TimeUnit.SECONDS);
    timer.runScheduledPendingTasks();

    assertOnlyFirstIsClosed();
  }

  private void assertOnlyFirstIsClosed() {
    assertEquals(
        List.of(false, true, true),
        clients.stream().limit(3).map(EmbeddedChannel::isOpen).toList());
  }
}
