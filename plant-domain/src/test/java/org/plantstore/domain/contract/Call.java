package org.plantstore.domain.contract;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;

/**
 * A call of a store.
 *
 * @param occasion when the call is made, for failure messages
 */
record Call(PlantStore store, @Nullable NewPlant plant, String occasion) {

  /** Daemon threads, so that a call that never returns does not keep the JVM from exiting. */
  private static final ExecutorService CALLERS =
      Executors.newCachedThreadPool(task -> {
        Thread caller = new Thread(task, "caller of a store");
        caller.setDaemon(true);
        return caller;
      });

  /**
   * The outcome of a call.
   *
   * @param returned the returned plant, which a broken store may leave null
   * @param thrown what the store threw, or null
   * @param hangs whether the store neither returned nor threw within the time limit
   */
  record Outcome(@Nullable NewPlant returned, @Nullable Throwable thrown, boolean hangs) {}

  /** Makes the calls at the same moment, each in its own thread, and returns their outcomes. */
  @SuppressWarnings("ThreadPriorityCheck") // yielding lets the other callers arrive
  static List<Outcome> atOnce(List<Call> calls, Duration timeLimit) throws InterruptedException {
    CountDownLatch absent = new CountDownLatch(calls.size());
    List<Callable<NewPlant>> tasks = new ArrayList<>();
    for (Call call : calls) {
      tasks.add(() -> {
        absent.countDown();
        while (absent.getCount() > 0) {
          Thread.yield(); // a thread that has to be woken comes too late for a race
        }
        return call.make();
      });
    }
    List<Outcome> outcomes = new ArrayList<>();
    for (Future<NewPlant> future : CALLERS.invokeAll(tasks, timeLimit.toNanos(), NANOSECONDS)) {
      outcomes.add(outcome(future));
    }
    return outcomes;
  }

  @SuppressWarnings("NullAway") // null is what R9 is about
  private NewPlant make() {
    return store.putIfAbsent(plant);
  }

  private static Outcome outcome(Future<NewPlant> ended) throws InterruptedException {
    try {
      return new Outcome(ended.get(), null, false);
    } catch (ExecutionException e) {
      return new Outcome(null, e.getCause(), false);
    } catch (CancellationException e) {
      return new Outcome(null, null, true);
    }
  }

  @Override
  public String toString() {
    return "putIfAbsent(%s) %s".formatted(Description.of(plant), occasion);
  }
}
