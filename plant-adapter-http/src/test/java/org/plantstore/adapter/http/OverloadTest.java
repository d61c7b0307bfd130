package org.plantstore.adapter.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.micronaut.context.annotation.Property;
import io.micronaut.http.server.HttpServerConfiguration;
import java.io.IOException;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantStoreUnavailableException;

/** More creates at once than the service takes on. */
@Property(name = "max.concurrent.creates", value = "2")
class OverloadTest extends ServerTest {

  @Test
  void create_beyond_the_bound_asks_to_retry_and_those_within_are_answered() throws IOException {
    CountDownLatch bothWait = new CountDownLatch(2);
    CountDownLatch goOn = new CountDownLatch(1);
    createPlant.behave(plant -> {
      bothWait.countDown();
      FakeCreatePlant.await(goOn);
      return plant.plant();
    });
    try (Socket first = connect();
        Socket second = connect()) {
      String last = createRequest("Connection: close\r\n");
      write(first, last);
      write(second, last);
      FakeCreatePlant.await(bothWait);

      Answer beyond = post(FERN);
      goOn.countDown();

      Answer.assertError(
          beyond,
          503,
          5003,
          "The service has too much to do now; send the same request again later.");
      assertEquals(List.of(200, 200), statuses(readAll(first) + readAll(second)));
    }
    assertEquals(200, post(FERN).status());
  }

  @Test
  void failed_creates_give_their_place_back() {
    for (int attempt = 0; attempt < 5; attempt++) {
      createPlant.fail(new PlantStoreUnavailableException("down"));
      assertEquals(503, post(FERN).status());
    }
    createPlant.behave(NewPlant::plant);
    assertEquals(200, post(FERN).status());
  }

  @Test
  void creates_that_get_no_thread_give_their_place_back() {
    Executor noThread =
        work -> {
          throw new OutOfMemoryError("unable to create native thread");
        };
    PlantsController plants =
        new PlantsController(
            new NewPlantReader(new HttpServerConfiguration(), noThread), createPlant, noThread, 1);
    for (int attempt = 0; attempt < 2; attempt++) {
      CompletableFuture<Plant> created =
          plants.create(new NewPlant(1, "fern", null), Runnable::run).toCompletableFuture();
      assertInstanceOf(
          OutOfMemoryError.class, assertThrows(ExecutionException.class, created::get).getCause());
    }
  }
}
