package org.plantstore.adapter.http.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
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
import jakarta.inject.Inject;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.Collections;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.plantstore.adapter.http.Answer;
import org.plantstore.adapter.http.FakeCreatePlant;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.domain.PlantStoreUnavailableException;

/** Large requests, when there is memory left for them and when there is none. */
@MicronautTest
@Property(name = "jwt.secret", value = Tokens.SECRET)
@Timeout(60)
class BodyBudgetTest {

  private static final String LARGE =
      "{\"id\":1,\"name\":\"fern\",\"tag\":\"" + "x".repeat(1_000_000) + "\"}";
  private static final String OVERLOADED =
      "{\"error\":5003,\"message\":\"The service has too much to do now; send the same request"
          + " again later.\"}";

  @Inject EmbeddedServer server;
  @Inject BodyBudget budget;
  @Inject FakeCreatePlant createPlant;

  @BeforeEach
  void reset() {
    awaitThatNothingIsTaken();
  }

  @Test
  void body_for_which_there_is_no_memory_asks_to_retry_and_small_ones_are_served() {
    long all = takeAll();
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
      budget.release(all);
    }
    assertEquals(200, Answer.toCreate(server.getURI(), LARGE).status());
  }

  @Test
  void caller_is_looked_at_before_the_memory() {
    long all = takeAll();
    try {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(server.getURI().resolve("/plants"))
              .POST(BodyPublishers.ofString(LARGE));
      assertEquals(401, Answer.to(request).status());
    } finally {
      budget.release(all);
    }
  }

  @Test
  void body_in_tiny_parts_takes_more_than_its_bytes() throws IOException {
    long all = takeAll();
    try (Socket connection = connect(server)) {
      String body = "1\r\n \r\n".repeat(1_000);
      write(connection, head("POST /plants HTTP/1.1", "Transfer-Encoding: chunked\r\n") + body);

      assertEquals("HTTP/1.1 503", read(connection, "HTTP/1.1 503"));
    } finally {
      budget.release(all);
    }
  }

  @Test
  void memory_is_taken_until_the_answer_and_then_given_back() {
    createPlant.behave(plant -> {
      assertNotEquals(0, budget.takenBytes());
      return plant.plant();
    });
    assertEquals(200, Answer.toCreate(server.getURI(), LARGE).status());
    awaitThatNothingIsTaken();

    createPlant.fail(new PlantStoreUnavailableException("down"));
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
      while (budget.takenBytes() == 0) {
        LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
      }
    }
    awaitThatNothingIsTaken();
    assertEquals(0, createPlant.calls());
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

  /** Takes all that other bodies may take together, and returns how much that is. */
  private long takeAll() {
    long bodyBytes = 0;
    while (budget.take(bodyBytes, 1)) {
      bodyBytes += budget.take(bodyBytes + 1, 64 * 1024) ? 64 * 1024 + 1 : 1;
    }
    return bodyBytes;
  }

  private void awaitThatNothingIsTaken() {
    while (budget.takenBytes() != 0) {
      LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
    }
  }
}
