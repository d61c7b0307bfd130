package org.plantstore.adapter.http.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.http.connection.RawRequests.FERN;
import static org.plantstore.adapter.http.connection.RawRequests.connect;
import static org.plantstore.adapter.http.connection.RawRequests.createRequest;
import static org.plantstore.adapter.http.connection.RawRequests.head;
import static org.plantstore.adapter.http.connection.RawRequests.read;
import static org.plantstore.adapter.http.connection.RawRequests.readAll;
import static org.plantstore.adapter.http.connection.RawRequests.statuses;
import static org.plantstore.adapter.http.connection.RawRequests.write;

import io.micronaut.context.annotation.Property;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.HttpContent;
import jakarta.inject.Inject;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.Collections;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.plantstore.adapter.http.Answer;
import org.plantstore.adapter.http.FakeCreatePlant;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.adapter.http.observe.RequestMemory;
import org.plantstore.adapter.http.observe.UnansweredExchanges;
import org.plantstore.domain.PlantStoreUnavailableException;

/** Large requests, when there is memory left for them and when there is none. */
@MicronautTest
@Property(name = "jwt.secret", value = Tokens.SECRET)
@Timeout(60)
class RequestMemoryTest {

  private static final long ALL = Runtime.getRuntime().maxMemory();
  private static final String LARGE =
      "{\"id\":1,\"name\":\"fern\",\"tag\":\"" + "x".repeat(1_000_000) + "\"}";
  private static final String OVERLOADED =
      "{\"error\":5003,\"message\":\"The service has too much to do now; send the same request"
          + " again later.\"}";

  @Inject EmbeddedServer server;
  @Inject RequestMemory memory;
  @Inject FakeCreatePlant createPlant;

  @BeforeEach
  void reset() {
    awaitThatNothingIsTaken();
  }

  @Test
  void body_for_which_there_is_no_memory_asks_to_retry_and_small_ones_are_served() {
    assertTrue(memory.take(ALL, 0));
    try {
      for (int time = 0; time < 3; time++) {
        Answer refused = Answer.toCreate(server.getURI(), LARGE);
        assertEquals(OVERLOADED, refused.body());
        assertEquals(503, refused.status());
        assertEquals(Optional.of("1"), refused.header("Retry-After"));
        assertEquals(200, Answer.toCreate(server.getURI(), FERN).status());
      }
      assertEquals(3, createPlant.calls());
    } finally {
      memory.giveBack(ALL);
    }
    assertEquals(200, Answer.toCreate(server.getURI(), LARGE).status());
  }

  @Test
  void caller_is_looked_at_before_the_memory() {
    assertTrue(memory.take(ALL, 0));
    try {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(server.getURI().resolve("/plants"))
              .POST(BodyPublishers.ofString(LARGE));
      assertEquals(401, Answer.to(request).status());
    } finally {
      memory.giveBack(ALL);
    }
  }

  @Test
  void body_in_tiny_parts_takes_more_than_its_bytes() throws IOException {
    assertTrue(memory.take(ALL, 0));
    try (Socket connection = connect(server)) {
      String body = "1\r\n \r\n".repeat(1_000);
      write(connection, head("POST /plants HTTP/1.1", "Transfer-Encoding: chunked\r\n") + body);

      assertEquals("HTTP/1.1 503", read(connection, "HTTP/1.1 503"));
    } finally {
      memory.giveBack(ALL);
    }
  }

  /** The rest of the buffer may have been another request, and takes memory all the same. */
  @Test
  void small_part_of_a_body_keeps_no_large_buffer() {
    UnansweredExchanges none = new UnansweredExchanges(memory, exchange -> {});
    EmbeddedChannel channel = new EmbeddedChannel(new BodyMemoryHandler(none));
    ByteBuf buffer = Unpooled.buffer(64 * 1024).writeZero(64 * 1024);

    channel.writeInbound(new DefaultHttpContent(buffer.readRetainedSlice(100)));
    buffer.release();

    assertEquals(0, buffer.refCnt());
    HttpContent part = channel.readInbound();
    assertEquals(100, part.content().readableBytes());
    part.release();
  }

  @Test
  void memory_is_taken_until_the_answer_and_then_given_back() {
    createPlant.behave(plant -> {
      assertIsTaken();
      return plant.plant();
    });
    assertEquals(200, Answer.toCreate(server.getURI(), LARGE).status());
    awaitThatNothingIsTaken();

    createPlant.behave(plant -> {
      throw new PlantStoreUnavailableException("down");
    });
    assertEquals(503, Answer.toCreate(server.getURI(), LARGE).status());
    awaitThatNothingIsTaken();

    assertEquals(400, Answer.toCreate(server.getURI(), LARGE + "x").status());
    assertEquals(400, Answer.toCreate(server.getURI(), LARGE.repeat(2)).status());
    awaitThatNothingIsTaken();
  }

  @Test
  void memory_of_a_client_that_goes_away_is_given_back() throws IOException {
    String create = createRequest("", LARGE);
    try (Socket connection = connect(server)) {
      write(connection, create.substring(0, create.length() - 1));
      while (nothingIsTaken()) {
        LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
      }
    }
    awaitThatNothingIsTaken();
    assertEquals(0, createPlant.calls());
  }

  @Test
  void memory_of_headers_is_taken_until_the_answer_and_then_given_back() throws IOException {
    createPlant.behave(plant -> {
      assertIsTaken();
      return plant.plant();
    });
    String create = createRequest("a:\r\n".repeat(80) + "b: " + "x".repeat(8_000) + "\r\n");
    try (Socket connection = connect(server)) {
      write(connection, create.substring(0, create.length() - FERN.length()));
      while (nothingIsTaken()) {
        LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
      }
      write(connection, FERN);

      assertEquals("HTTP/1.1 200", read(connection, "HTTP/1.1 200"));
      awaitThatNothingIsTaken();
    }
  }

  @Test
  void request_behind_an_unanswered_one_for_which_there_is_no_memory_ends_the_connection()
      throws IOException {
    CompletableFuture<Boolean> closed = new CompletableFuture<>();
    createPlant.behave(plant -> {
      closed.join();
      return plant.plant();
    });
    assertTrue(memory.take(ALL, 0));
    try (Socket connection = connect(server)) {
      write(connection, createRequest("").repeat(2));

      assertEquals(-1, connection.getInputStream().read());
    } finally {
      closed.complete(true);
      memory.giveBack(ALL);
    }
  }

  @Test
  void several_large_requests_in_one_go_are_all_answered() throws IOException {
    String requests =
        createRequest("", LARGE).repeat(4) + createRequest("Connection: close\r\n", LARGE);
    try (Socket connection = connect(server)) {
      Thread sender =
          new Thread(() -> {
            try {
              write(connection, requests);
            } catch (IOException e) {
              throw new IllegalStateException(e);
            }
          });
      sender.start();

      assertEquals(Collections.nCopies(5, 200), statuses(readAll(connection)));
    }
    awaitThatNothingIsTaken();
  }

  private void assertIsTaken() {
    assertNotEquals(true, nothingIsTaken());
  }

  /** One alone may take any amount. */
  private boolean nothingIsTaken() {
    boolean alone = memory.take(ALL, 0);
    if (alone) {
      memory.giveBack(ALL);
    }
    return alone;
  }

  private void awaitThatNothingIsTaken() {
    while (!nothingIsTaken()) {
      LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
    }
  }
}
