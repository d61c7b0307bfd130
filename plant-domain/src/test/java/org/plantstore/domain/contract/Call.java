package org.plantstore.domain.contract;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;

/** A call of a store; failure messages contain the occasion. */
record Call(
    Form form,
    PlantStore store,
    @Nullable NewPlant plant,
    @Nullable Executor executor,
    String occasion) {

  /** A form of the port's method. */
  enum Form {
    BLOCKING("putIfAbsent"),
    ASYNCHRONOUS("putIfAbsentAsync");

    private final String method;

    Form(String method) {
      this.method = method;
    }

    Form other() {
      return this == BLOCKING ? ASYNCHRONOUS : BLOCKING;
    }
  }

  /** Daemon threads, so that a call that never returns does not keep the JVM from exiting. */
  static final ExecutorService CALLERS =
      Executors.newCachedThreadPool(task -> {
        Thread caller = new Thread(task, "caller of a store");
        caller.setDaemon(true);
        return caller;
      });

  /**
   * The returned plant, which a broken store may leave null, or the exception of the store or of
   * the stage, or neither, if the call hangs: it has not ended within the time limit.
   */
  record Outcome(@Nullable NewPlant returned, @Nullable Throwable thrown, boolean hangs) {}

  /** Makes the calls at the same moment, each in its own thread, and returns their outcomes. */
  static List<Outcome> atOnce(List<Call> calls, Duration timeLimit) {
    return outcomesAtOnce(
        calls.stream().<Callable<Outcome>>map(call -> call::make).toList(), timeLimit);
  }

  /** Makes this call in a thread that is interrupted, before or after a delay, and another one. */
  List<Outcome> interruptedBeside(Call other, Duration delay, Duration timeLimit) {
    return outcomesAtOnce(List.of(() -> makeInterrupted(delay), other::make), timeLimit);
  }

  @SuppressWarnings("ThreadPriorityCheck") // yielding lets the other callers arrive
  private static List<Outcome> outcomesAtOnce(List<Callable<Outcome>> calls, Duration timeLimit) {
    CountDownLatch absent = new CountDownLatch(calls.size());
    List<Callable<Outcome>> tasks = new ArrayList<>();
    for (Callable<Outcome> call : calls) {
      tasks.add(() -> {
        absent.countDown();
        while (absent.getCount() > 0) {
          Thread.yield(); // a thread that has to be woken comes too late for a race
        }
        return call.call();
      });
    }
    return outcomes(tasks, timeLimit);
  }

  /** Returns the outcomes of calls that were started. */
  static List<Outcome> ofStages(List<CompletionStage<NewPlant>> stages, Duration timeLimit) {
    return outcomes(
        stages.stream().<Callable<Outcome>>map(stage -> () -> await(stage)).toList(), timeLimit);
  }

  private static List<Outcome> outcomes(List<Callable<Outcome>> tasks, Duration timeLimit) {
    List<Outcome> outcomes = new ArrayList<>();
    try {
      for (Future<Outcome> ended : CALLERS.invokeAll(tasks, timeLimit.toNanos(), NANOSECONDS)) {
        outcomes.add(outcome(ended));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("the test was interrupted", e);
    }
    return outcomes;
  }

  @SuppressWarnings("NullAway") // R9 passes null
  private Outcome make() throws InterruptedException, ExecutionException {
    if (form == Form.BLOCKING) {
      return new Outcome(store.putIfAbsent(plant), null, false);
    }
    if (plant == null || executor == null) {
      store.putIfAbsentAsync(plant, executor);
      throw new IllegalStateException("a stage, and nothing thrown at once");
    }
    return await(start());
  }

  /** Starts the call in the asynchronous form; without a stage in time the result fails. */
  CompletionStage<NewPlant> start(Duration timeLimit) {
    try {
      return CALLERS.submit(() -> start()).get(timeLimit.toNanos(), NANOSECONDS);
    } catch (InterruptedException | ExecutionException | TimeoutException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @SuppressWarnings("NullAway") // only R9 passes null
  private CompletionStage<NewPlant> start() {
    try {
      return store.putIfAbsentAsync(plant, executor);
    } catch (RuntimeException e) {
      throw new IllegalStateException("thrown at once, not by the stage", e);
    }
  }

  private static Outcome await(CompletionStage<NewPlant> stage)
      throws InterruptedException, ExecutionException {
    return stage
        .handle((returned, failure) -> new Outcome(returned, failure, false))
        .toCompletableFuture()
        .get();
  }

  @SuppressWarnings("ThreadPriorityCheck") // waiting would end the interrupt
  private Outcome makeInterrupted(Duration delay) throws InterruptedException {
    Thread caller = Thread.currentThread();
    FutureTask<?> interrupt =
        new FutureTask<>(
            () -> {
              LockSupport.parkNanos(delay.toNanos());
              caller.interrupt();
            },
            null);
    Executor thread = delay.isZero() ? Runnable::run : CALLERS;
    thread.execute(interrupt);
    FutureTask<Outcome> call = new FutureTask<>(this::make);
    call.run();
    while (!interrupt.isDone()) {
      Thread.yield();
    }
    return Thread.interrupted()
        ? outcome(call)
        : new Outcome(null, new IllegalStateException("the interrupt was cleared"), false);
  }

  private static Outcome outcome(Future<Outcome> ended) throws InterruptedException {
    try {
      return ended.get();
    } catch (ExecutionException e) {
      return new Outcome(null, e.getCause(), false);
    } catch (CancellationException e) {
      return new Outcome(null, null, true);
    }
  }

  @Override
  public String toString() {
    return form.method + "(" + Description.of(plant) + ") " + occasion;
  }
}
