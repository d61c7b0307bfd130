package org.plantstore.domain.contract;

import static java.util.Objects.requireNonNullElse;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;

/** Makes calls, and returns their outcomes: what a call returns, or the exception it throws. */
final class Calls {

  /** A form of a port's method. */
  enum Form {
    BLOCKING,
    ASYNCHRONOUS;

    /** Returns the form for a number, such as an id: every test makes its calls in both forms. */
    static Form of(long number) {
      return number % 2 == 0 ? BLOCKING : ASYNCHRONOUS;
    }
  }

  /** Daemon threads, so that a call that never returns does not keep the JVM from exiting. */
  static final ExecutorService CALLERS =
      Executors.newCachedThreadPool(task -> {
        Thread caller = new Thread(task, "caller of the kit");
        caller.setDaemon(true);
        return caller;
      });

  private Calls() {}

  /**
   * Makes the calls in threads that begin together. The outcome of a call that has not ended within
   * the time limit is a {@link TimeoutException}.
   */
  @SuppressWarnings("ThreadPriorityCheck") // a thread that must be woken is too late for a race
  static List<Object> atOnce(List<? extends Callable<?>> calls, Duration timeLimit) {
    CountDownLatch absent = new CountDownLatch(calls.size());
    List<Callable<Object>> tasks = new ArrayList<>();
    for (Callable<?> call : calls) {
      tasks.add(() -> {
        absent.countDown();
        while (absent.getCount() > 0) {
          Thread.yield();
        }
        return outcome(call);
      });
    }
    List<Object> outcomes = new ArrayList<>();
    try {
      for (Future<Object> ended : CALLERS.invokeAll(tasks, timeLimit.toNanos(), NANOSECONDS)) {
        Object hangs = new TimeoutException("the call has not ended after " + timeLimit);
        outcomes.add(ended.isCancelled() ? hangs : ended.get());
      }
      return outcomes;
    } catch (Exception e) {
      throw new IllegalStateException("the test was interrupted", e);
    }
  }

  static Object outcome(Callable<?> call) {
    try {
      return requireNonNullElse(call.call(), "null");
    } catch (Throwable e) {
      return e;
    }
  }

  /** Returns the outcome of a stage; a stage must fail with the exception itself, not wrapped. */
  static Object await(CompletionStage<?> stage) {
    return stage
        .handle((returned, e) -> e == null ? requireNonNullElse(returned, "null") : e)
        .toCompletableFuture()
        .join();
  }
}
