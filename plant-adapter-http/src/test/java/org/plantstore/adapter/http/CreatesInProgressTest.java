package org.plantstore.adapter.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.health.HealthStatus;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
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
class CreatesInProgressTest {

  @AutoClose("shutdownNow")
  private final ScheduledExecutorService eventLoop = Executors.newSingleThreadScheduledExecutor();

  @Test
  void create_beyond_the_bound_is_refused_until_another_ends_or_gets_no_thread() {
    Queue<Runnable> work = new ArrayBlockingQueue<>(1);
    CreatesInProgress creates =
        creates(
            NewPlant::plant,
            task -> {
              if (!work.offer(task)) {
                throw new OutOfMemoryError("unable to create native thread");
              }
            });
    work.add(() -> {}); // takes the only thread
    for (int attempt = 0; attempt < 2; attempt++) {
      assertInstanceOf(OutOfMemoryError.class, failure(create(creates)));
    }
    work.clear();
    CompletableFuture<Plant> waiting = create(creates);
    assertRefused(creates);

    work.remove().run();
    assertEquals("fern", waiting.join().name());
    assertFalse(create(creates).isDone(), "it waits for its thread");
  }

  @Test
  void call_that_blocks_is_interrupted_at_the_deadline_and_keeps_its_permit_until_it_returns()
      throws InterruptedException {
    CountDownLatch interrupted = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    CreatesInProgress creates =
        creates(
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
            task -> new Thread(task).start());

    assertOverdue(create(creates));
    interrupted.await();
    assertRefused(creates);
    assertEquals(HealthStatus.DOWN, readiness(creates));

    end.countDown();
    while (readiness(creates).equals(HealthStatus.DOWN)) {
      LockSupport.parkNanos(1_000_000);
    }
    assertEquals("fern", create(creates).join().name());
  }

  @Test
  void stage_that_never_ends_is_cancelled_at_the_deadline_and_its_permit_is_given_back() {
    CreatesInProgress creates = creates(NewPlant::plant, call -> {}); // which nobody runs

    for (int attempt = 0; attempt < 2; attempt++) {
      assertOverdue(create(creates));
      assertEquals(HealthStatus.UP, readiness(creates));
    }
  }

  private static CreatesInProgress creates(CreatePlant createPlant, Executor executor) {
    return new CreatesInProgress(createPlant, executor, 1, 1);
  }

  private CompletableFuture<Plant> create(CreatesInProgress creates) {
    return creates.start(new NewPlant(1, "fern", null), eventLoop).toCompletableFuture();
  }

  private static @Nullable Throwable failure(CompletableFuture<Plant> create) {
    return assertThrows(ExecutionException.class, create::get).getCause();
  }

  private static void assertOverdue(CompletableFuture<Plant> create) {
    String failure =
        assertInstanceOf(PlantStoreUnavailableException.class, failure(create)).toString();
    assertTrue(failure.endsWith(" has exceeded CREATE_TIMEOUT_SECONDS, 1"), failure);
  }

  private void assertRefused(CreatesInProgress creates) {
    RefusedException refusal = assertThrows(RefusedException.class, () -> create(creates));
    assertEquals(ErrorNumber.OVERLOADED, refusal.error());
  }

  private static HealthStatus readiness(CreatesInProgress creates) {
    return Mono.from(new LostPermits(creates, 1).getResult())
        .blockOptional()
        .orElseThrow()
        .getStatus();
  }
}
