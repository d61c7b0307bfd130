package org.plantstore.adapter.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.health.HealthStatus;
import io.micronaut.http.server.HttpServerConfiguration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantStoreUnavailableException;
import reactor.core.publisher.Mono;

/** The bound of creates in progress, here one, and their deadline, here 1 s. */
class BoundsOfCreatesTest {

  @AutoClose("shutdownNow")
  private final ScheduledExecutorService eventLoop = Executors.newSingleThreadScheduledExecutor();

  @AutoClose("shutdownNow")
  private final ExecutorService threads = Executors.newCachedThreadPool();

  private final LostPermits lostPermits = new LostPermits(1);

  @Test
  void create_beyond_the_bound_is_refused_until_another_ends_or_gets_no_thread() {
    Queue<Runnable> work = new ArrayBlockingQueue<>(1);
    PlantsController plants =
        controller(
            NewPlant::plant,
            task -> {
              if (!work.offer(task)) {
                throw new OutOfMemoryError("unable to create native thread");
              }
            });
    work.add(() -> {}); // takes the only thread
    for (int attempt = 0; attempt < 2; attempt++) {
      assertInstanceOf(OutOfMemoryError.class, failure(create(plants)));
    }
    work.clear();
    CompletableFuture<Plant> waiting = create(plants);
    assertRefused(plants);

    work.remove().run();
    assertEquals("fern", waiting.join().name());
    assertFalse(create(plants).isDone(), "it waits for its thread");
  }

  @Test
  void call_that_blocks_is_interrupted_at_the_deadline_and_keeps_its_permit_until_it_returns()
      throws InterruptedException {
    CountDownLatch interrupted = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    PlantsController plants =
        controller(
            plant -> {
              while (end.getCount() > 0) {
                try {
                  end.await();
                } catch (InterruptedException e) {
                  interrupted.countDown();
                }
              }
              return plant.plant();
            },
            threads);

    assertOverdue(create(plants));
    interrupted.await();
    assertRefused(plants);
    assertEquals(HealthStatus.DOWN, readiness());

    end.countDown();
    while (readiness().equals(HealthStatus.DOWN)) {
      LockSupport.parkNanos(1_000_000);
    }
    assertEquals("fern", create(plants).join().name());
  }

  @Test
  void stage_that_never_ends_is_cancelled_at_the_deadline_and_its_permit_is_given_back() {
    List<CompletableFuture<Plant>> stages = new ArrayList<>();
    CreatePlant silent =
        new CreatePlant() {
          @Override
          public Plant create(NewPlant plant) {
            throw new UnsupportedOperationException();
          }

          @Override
          public CompletionStage<Plant> createAsync(NewPlant plant, Executor executor) {
            stages.add(new CompletableFuture<>());
            return stages.get(stages.size() - 1);
          }
        };
    PlantsController plants = controller(silent, threads);

    for (int attempt = 0; attempt < 2; attempt++) {
      assertOverdue(create(plants));
      assertTrue(stages.get(attempt).isCancelled());
      assertEquals(HealthStatus.UP, readiness());
    }
  }

  private PlantsController controller(CreatePlant createPlant, Executor executor) {
    NewPlantReader reader = new NewPlantReader(new HttpServerConfiguration(), executor);
    return new PlantsController(reader, createPlant, executor, 1, 1, lostPermits);
  }

  private CompletableFuture<Plant> create(PlantsController plants) {
    return plants.create(new NewPlant(1, "fern", null), eventLoop).toCompletableFuture();
  }

  private static @Nullable Throwable failure(CompletableFuture<Plant> create) {
    return assertThrows(ExecutionException.class, create::get).getCause();
  }

  private static void assertOverdue(CompletableFuture<Plant> create) {
    String failure =
        assertInstanceOf(PlantStoreUnavailableException.class, failure(create)).toString();
    assertTrue(failure.endsWith(" has not answered within 1 s (CREATE_TIMEOUT_SECONDS)"), failure);
  }

  private void assertRefused(PlantsController plants) {
    RefusedException refusal = assertThrows(RefusedException.class, () -> create(plants));
    assertEquals(ErrorNumber.OVERLOADED, refusal.error());
  }

  private HealthStatus readiness() {
    return Mono.from(lostPermits.getResult()).blockOptional().orElseThrow().getStatus();
  }
}
