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

/**
 * Makes calls, and returns their outcomes. The outcome of a call is the value that it returns or
 * the exception that it throws.
 */
final class Calls {

  /** The two forms of a port's method. */
  enum Form {
    BLOCKING,
    ASYNCHRONOUS;

    /**
     * Returns the form for a number, such as an id. Even numbers select the blocking form, and odd
     * numbers select the asynchronous form, so every test uses both forms.
     */
    static Form of(long number) {
      return number % 2 == 0 ? BLOCKING : ASYNCHRONOUS;
    }
  }

  /**
   * Runs calls on daemon threads, so that a call that never returns does not keep the JVM running.
   */
  static final ExecutorService CALLERS =
      Executors.newCachedThreadPool(task -> {
        Thread caller = new Thread(task, "contract-test-caller");
        caller.setDaemon(true);
        return caller;
      });

  private Calls() {}

  /**
   * Makes each call on a separate thread, and starts all calls at the same time. If a call does not
   * end within the time limit, its outcome is a {@link TimeoutException}.
   */
  @SuppressWarnings("ThreadPriorityCheck") // waking a thread would take too long
  static List<Object> concurrently(List<? extends Callable<?>> calls, Duration timeLimit) {
    CountDownLatch notReady = new CountDownLatch(calls.size());
    List<Callable<Object>> tasks = new ArrayList<>();
    for (Callable<?> call : calls) {
      tasks.add(() -> {
        notReady.countDown();
        while (notReady.getCount() > 0) {
          Thread.yield();
        }
        return outcome(call);
      });
    }
    List<Object> outcomes = new ArrayList<>();
    try {
      for (Future<Object> ended : CALLERS.invokeAll(tasks, timeLimit.toNanos(), NANOSECONDS)) {
        Object timeout =
            new TimeoutException("the call did not end within " + timeLimit.toMillis() + " ms");
        outcomes.add(ended.isCancelled() ? timeout : ended.get());
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

  /**
   * Waits until a {@link CompletionStage} completes, and returns its outcome. If the stage fails,
   * its exception must not be wrapped in another exception.
   */
  static Object await(CompletionStage<?> stage) {
    return stage
        .handle((returned, e) -> e == null ? requireNonNullElse(returned, "null") : e)
        .toCompletableFuture()
        .join();
  }
}
