package org.plantstore.adapter.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.plantstore.adapter.http.connection.RawRequests.FERN;
import static org.plantstore.adapter.http.connection.RawRequests.connect;
import static org.plantstore.adapter.http.connection.RawRequests.createRequest;
import static org.plantstore.adapter.http.connection.RawRequests.readAll;
import static org.plantstore.adapter.http.connection.RawRequests.statuses;
import static org.plantstore.adapter.http.connection.RawRequests.write;

import io.micronaut.context.annotation.Property;
import io.micronaut.http.server.HttpServerConfiguration;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import jakarta.inject.Inject;
import java.io.IOException;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantStoreUnavailableException;

/** More creates at once than the service takes on. */
@MicronautTest
@Property(name = "jwt.secret", value = Tokens.SECRET)
@Property(name = "max.concurrent.creates", value = "2")
class OverloadTest {

  @Inject EmbeddedServer server;
  @Inject FakeCreatePlant createPlant;

  @Test
  @Timeout(60)
  void create_beyond_the_bound_asks_to_retry_and_those_within_are_answered() throws IOException {
    CountDownLatch bothWait = new CountDownLatch(2);
    CountDownLatch goOn = new CountDownLatch(1);
    createPlant.behave(plant -> {
      bothWait.countDown();
      FakeCreatePlant.await(goOn);
      return plant.plant();
    });
    try (Socket first = connect(server);
        Socket second = connect(server)) {
      String last = createRequest("Connection: close\r\n");
      write(first, last);
      write(second, last);
      FakeCreatePlant.await(bothWait);

      Answer beyond = Answer.toCreate(server.getURI(), FERN);
      goOn.countDown();

      Answer.assertError(
          beyond,
          503,
          5003,
          "The service has too much to do now; send the same request again later.");
      assertEquals(List.of(200, 200), statuses(readAll(first) + readAll(second)));
    }
    assertEquals(200, Answer.toCreate(server.getURI(), FERN).status());
  }

  @Test
  void failed_creates_give_their_place_back() {
    for (int attempt = 0; attempt < 5; attempt++) {
      createPlant.fail(new PlantStoreUnavailableException("down"));
      assertEquals(503, Answer.toCreate(server.getURI(), FERN).status());
    }
    createPlant.behave(NewPlant::plant);
    assertEquals(200, Answer.toCreate(server.getURI(), FERN).status());
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
