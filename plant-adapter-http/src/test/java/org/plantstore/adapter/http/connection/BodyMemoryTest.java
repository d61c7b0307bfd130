package org.plantstore.adapter.http.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.http.Answer.assertError;

import jakarta.inject.Inject;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.plantstore.adapter.http.Answer;
import org.plantstore.adapter.http.ServerTest;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.domain.PlantStoreUnavailableException;

/** Large requests, when there is memory left for them and when there is none. */
class BodyMemoryTest extends ServerTest {

  private static final String LARGE =
      "{\"id\":1,\"name\":\"fern\",\"unknown\":\"" + "x".repeat(1_000_000) + "\"}";

  /** An eighth of the heap, for all bodies together. */
  private static final int ALL_BYTES = (int) (Runtime.getRuntime().maxMemory() / 8);

  private final Semaphore free;

  @Inject
  BodyMemoryTest(ConnectionPipeline pipeline) {
    free = pipeline.freeBodyBytes();
  }

  @AfterEach
  void awaitThatNothingIsTaken() {
    while (free.availablePermits() != ALL_BYTES) {
      LockSupport.parkNanos(5_000_000);
    }
  }

  @Test
  void body_for_which_there_is_no_memory_asks_to_retry_and_small_ones_are_served()
      throws IOException {
    assertTrue(free.tryAcquire(ALL_BYTES));
    try {
      assertError(post(LARGE), ErrorNumber.OVERLOADED);
      assertEquals(200, post(FERN).status());
      assertEquals(1, createPlant.calls());
      // Each part of a body takes more than its bytes.
      String tinyParts = "1\r\n \r\n".repeat(1_000);
      String head = head("POST /plants HTTP/1.1", "Transfer-Encoding: chunked\r\n");
      assertTrue(send(head + tinyParts + "0\r\n\r\n").startsWith("HTTP/1.1 503"));
      Answer anonymous = Answer.to(anonymous("/plants").POST(BodyPublishers.ofString(LARGE)));
      assertEquals(401, anonymous.status(), "the token is validated before the memory is taken");
    } finally {
      free.release(ALL_BYTES);
    }
  }

  @Test
  void memory_is_taken_until_the_answer_and_then_given_back() {
    createPlant.behave(plant -> {
      assertNotEquals(ALL_BYTES, free.availablePermits());
      return plant.plant();
    });
    assertEquals(200, post(LARGE).status());
    awaitThatNothingIsTaken();

    createPlant.behave(plant -> {
      throw new PlantStoreUnavailableException("down");
    });
    assertError(post(LARGE), ErrorNumber.STORE_UNAVAILABLE);
    awaitThatNothingIsTaken();

    assertEquals(400, post(LARGE.repeat(2)).status());
  }

  @Test
  void memory_of_a_client_that_goes_away_is_given_back_and_nothing_is_created() throws IOException {
    String create = createRequest("", LARGE);
    try (Socket connection = connect(server)) {
      write(connection, create.substring(0, create.length() - 1));
      while (free.availablePermits() == ALL_BYTES) {
        LockSupport.parkNanos(5_000_000);
      }
      connection.shutdownOutput();
      assertEquals("", readAll(connection));
    }
    awaitThatNothingIsTaken();
    assertEquals(0, createPlant.calls());
  }
}
