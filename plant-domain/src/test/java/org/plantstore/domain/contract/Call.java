package org.plantstore.domain.contract;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;

/**
 * A call of a store.
 *
 * @param occasion when it is made, for failure messages
 */
record Call(PlantStore store, @Nullable NewPlant plant, String occasion) {

  /** Daemons, so that a call that hangs for ever does not keep the JVM from ending. */
  private static final ExecutorService CALLERS =
      Executors.newCachedThreadPool(task -> {
        Thread caller = new Thread(task, "caller of a store");
        caller.setDaemon(true);
        return caller;
      });

  /** About a millisecond: whoever has not come by then has no processor now. */
  private static final int LONGEST_SPIN = 20_000;

  /**
   * What came of a call.
   *
   * @param answer the answer, which a broken store may leave null
   * @param failure what the store threw, or null if it answered or hangs
   * @param hangs whether the store did neither in time
   */
  record Outcome(@Nullable NewPlant answer, @Nullable Throwable failure, boolean hangs) {}

  /** Makes the calls at the same moment, each in a thread of its own. */
  static List<Outcome> atOnce(List<Call> calls, Duration timeLimit) throws InterruptedException {
    CountDownLatch missing = new CountDownLatch(calls.size());
    long deadline = System.nanoTime() + timeLimit.toNanos();
    boolean awake = calls.size() <= Runtime.getRuntime().availableProcessors();
    List<Future<NewPlant>> answers = new ArrayList<>();
    try {
      for (Call call : calls) {
        answers.add(
            CALLERS.submit(() -> {
              meet(missing, awake);
              return call.make();
            }));
      }
      List<Outcome> outcomes = new ArrayList<>();
      for (Future<NewPlant> answer : answers) {
        outcomes.add(outcome(answer, deadline - System.nanoTime()));
      }
      return outcomes;
    } finally {
      answers.forEach(answer -> answer.cancel(true));
    }
  }

  /** Threads that have to be woken do not come at the same moment, so they stay awake. */
  private static void meet(CountDownLatch missing, boolean awake) throws InterruptedException {
    missing.countDown();
    for (int spins = 0; awake && spins < LONGEST_SPIN && missing.getCount() > 0; spins++) {
      Thread.onSpinWait();
    }
    missing.await();
  }

  @SuppressWarnings("NullAway") // null is what R9 is about
  private NewPlant make() {
    return store.putIfAbsent(plant);
  }

  private static Outcome outcome(Future<NewPlant> answer, long nanosLeft)
      throws InterruptedException {
    try {
      return new Outcome(answer.get(nanosLeft, NANOSECONDS), null, false);
    } catch (ExecutionException e) {
      return new Outcome(null, e.getCause(), false);
    } catch (TimeoutException e) {
      return new Outcome(null, null, true);
    }
  }

  @Override
  public String toString() {
    return "putIfAbsent(%s) %s".formatted(Shown.plant(plant), occasion);
  }
}
