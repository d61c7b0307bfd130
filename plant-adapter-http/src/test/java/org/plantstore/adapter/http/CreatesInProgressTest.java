package org.plantstore.adapter.http;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * Tests create requests with a limit of one request in progress. A deadline passes when a test says
 * so.
 */
@Timeout(60)
@Execution(ExecutionMode.CONCURRENT)
class CreatesInProgressTest {

  /** An event loop with a single timer, which expires when the test says so. */
  private static final class EventLoop extends ScheduledThreadPoolExecutor {

    private final Queue<Runnable> timers = new ConcurrentLinkedQueue<>();

    EventLoop() {
      super(1);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
      if (delay == 0) {
        return super.schedule(task, delay, unit);
      }
      assertEquals(TIMEOUT_SECONDS, unit.toSeconds(delay));
      ScheduledFuture<?> timer = super.schedule(task, 1, TimeUnit.DAYS);
      timers.add((Runnable) timer);
      return timer;
    }

    /** Ends the timer that was started first. */
    void expire() {
      execute(timers.remove());
    }
  }

  private static final int TIMEOUT_SECONDS = 1;

  @AutoClose("shutdownNow")
  private final EventLoop eventLoop = new EventLoop();

  private final MeterRegistry registry = new SimpleMeterRegistry();

  @Test
  void create_beyond_the_limit_is_refused_until_another_create_ends_or_fails_to_get_a_thread() {
    Queue<Runnable> work = new ArrayBlockingQueue<>(1);
    CreatesInProgress creates = creates(NewPlant::plant, work::add); // throws if the queue is full
    work.add(() -> {});
    for (int attempt = 0; attempt < 2; attempt++) {
      assertInstanceOf(IllegalStateException.class, failure(create(creates)));
    }
    work.clear();
    CompletableFuture<Plant> waiting = create(creates);
    assertRefused(creates);

    work.remove().run();
    assertEquals("fern", waiting.join().name());
    assertFalse(create(creates).isDone(), "the create waits for a thread");
  }

  @Test
  void blocking_call_is_interrupted_at_the_deadline_and_holds_its_permit_until_it_returns()
      throws InterruptedException {
    CountDownLatch started = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    CreatePlant blocking =
        plant -> {
          started.countDown();
          while (end.getCount() > 0) {
            try {
              end.await();
            } catch (InterruptedException e) {
              interrupted.countDown();
            }
          }
          return plant.plant();
        };
    List<Thread> threads = new CopyOnWriteArrayList<>();
    CreatesInProgress creates =
        creates(
            blocking,
            task -> {
              threads.add(new Thread(task));
              threads.get(threads.size() - 1).start();
            });

    CompletableFuture<Plant> create = create(creates);
    started.await();
    eventLoop.expire();
    assertOverdue(create);
    interrupted.await();
    assertRefused(creates);
    assertEquals(1, overdue());

    end.countDown();
    threads.get(0).join();
    assertEquals(0, overdue());
    assertEquals("fern", create(creates).join().name());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void permit_of_a_create_that_never_completes_is_released_at_the_deadline(boolean isMinimal) {
    Queue<Runnable> work = new ArrayBlockingQueue<>(2);
    AtomicInteger calls = new AtomicInteger();
    CreatePlant blocking =
        plant -> {
          calls.incrementAndGet();
          return plant.plant();
        };
    AsyncPlants minimal =
        (plant, executor) -> {
          executor.execute(calls::incrementAndGet);
          return new CompletableFuture<Plant>().minimalCompletionStage();
        };
    CreatesInProgress creates = creates(isMinimal ? minimal : blocking, work::add);

    for (int attempt = 0; attempt < 2; attempt++) {
      CompletableFuture<Plant> create = create(creates);
      eventLoop.expire();
      assertOverdue(create);
      assertEquals(0, overdue());
    }
    work.forEach(Runnable::run);
    assertEquals(0, calls.get(), "calls without a permit");
  }

  @Test
  void store_that_returns_no_stage_fails_the_create_and_does_not_hold_its_permit() {
    AsyncPlants faulty = (plant, executor) -> null;
    CreatesInProgress creates = creates(faulty, Runnable::run);
    for (int attempt = 0; attempt < 2; attempt++) {
      Throwable failure = failure(create(creates));
      assertEquals(faulty + " failed", failure.getMessage());
      assertEquals(
          faulty + " must return a CompletionStage, but returned null",
          requireNonNull(failure.getCause()).getMessage());
    }
  }

  /** A store that does not block its callers. */
  private interface AsyncPlants extends CreatePlant {

    @Override
    @SuppressWarnings("NullAway") // a faulty store may return null
    @Nullable CompletionStage<Plant> createAsync(NewPlant plant, Executor executor);

    @Override
    default Plant create(NewPlant plant) {
      throw new UnsupportedOperationException();
    }
  }

  @Test
  void texts_of_creates_in_progress_are_limited_until_the_creates_end() throws Exception {
    Queue<CompletableFuture<Plant>> stored = new ArrayDeque<>();
    CreatePlant slow =
        new CreatePlant() {
          @Override
          public Plant create(NewPlant plant) {
            throw new UnsupportedOperationException();
          }

          @Override
          public CompletionStage<Plant> createAsync(NewPlant plant, Executor executor) {
            stored.add(new CompletableFuture<>());
            return stored.element();
          }
        };
    CreatesInProgress creates =
        new CreatesInProgress(
            slow, new BlockingCalls(Runnable::run, registry), 1_000_000, TIMEOUT_SECONDS);
    NewPlant large = new NewPlant(1, "x".repeat(1 << 24), null);
    RefusedException refusal =
        assertThrows(
            RefusedException.class,
            () -> {
              while (stored.size() < 100_000) {
                creates.start(large, eventLoop);
              }
            });
    assertEquals(ErrorNumber.OVERLOADED, refusal.error());

    stored.element().complete(large.plant());
    eventLoop.submit(() -> {}).get();
    creates.start(large, eventLoop);
  }

  private CreatesInProgress creates(CreatePlant createPlant, Executor executor) {
    return new CreatesInProgress(
        createPlant, new BlockingCalls(executor, registry), 1, TIMEOUT_SECONDS);
  }

  private CompletableFuture<Plant> create(CreatesInProgress creates) {
    return creates.start(new NewPlant(1, "fern", null), eventLoop).toCompletableFuture();
  }

  private double overdue() {
    return registry.get("plant.store.overdue.creates").gauge().value();
  }

  private static Throwable failure(CompletableFuture<Plant> create) {
    return requireNonNull(assertThrows(ExecutionException.class, create::get).getCause());
  }

  private static void assertOverdue(CompletableFuture<Plant> create) {
    Throwable failure = assertInstanceOf(PlantStoreUnavailableException.class, failure(create));
    assertTrue(failure.toString().endsWith(" did not respond within 1 s (CREATE_TIMEOUT_SECONDS)"));
  }

  private void assertRefused(CreatesInProgress creates) {
    RefusedException refusal = assertThrows(RefusedException.class, () -> create(creates));
    assertEquals(ErrorNumber.OVERLOADED, refusal.error());
  }
}
