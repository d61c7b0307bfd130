package org.plantstore.domain.contract;

import static java.util.concurrent.CompletableFuture.delayedExecutor;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.stream.Collectors.joining;
import static org.plantstore.domain.contract.Calls.CALLERS;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantIdTakenException;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.plantstore.domain.contract.Calls.Form;

/**
 * Calls a store, and fails the test if an outcome violates the rule. The expected outcome of a call
 * is either a plant or the type of an exception. Exceptions must not have a cause or suppressed
 * exceptions (R7).
 */
record RuleCheck(String rule, PlantStore store, Duration timeLimit) {

  /**
   * A call to a store. The occasion, such as "after a crash", ends the description of the call in a
   * failure message.
   */
  record Call(Form form, PlantStore store, NewPlant plant, Executor executor, String occasion)
      implements Callable<Object> {

    @Override
    public Object call() {
      return form == Form.BLOCKING ? store.putIfAbsent(plant) : Calls.await(start());
    }

    /** Starts the asynchronous form of the call. */
    CompletionStage<NewPlant> start() {
      try {
        return store.putIfAbsentAsync(plant, executor);
      } catch (NullPointerException e) {
        throw e;
      } catch (RuntimeException e) {
        return CompletableFuture.failedFuture(
            new IllegalStateException(
                "the method threw an exception, which the stage must report instead", e));
      }
    }

    @Override
    public String toString() {
      String method = form == Form.BLOCKING ? "putIfAbsent" : "putIfAbsentAsync";
      return method + "(" + Description.of(plant, plant) + ") " + occasion;
    }
  }

  static final String FREE = "for a free id in an empty store";
  static final Class<?> UNAVAILABLE = PlantStoreUnavailableException.class;

  /** The expected outcome of a call if there is an internal error in the store. */
  static final Object FAULT =
      "throw an exception without a cause that indicates an internal error in the store: neither"
          + " PlantStoreUnavailableException, because a retry cannot help, nor an exception that"
          + " rejects the plant, because the caller is not responsible";

  private static final String VIOLATED = " of PlantStore is violated:\n  ";
  private static final String NOT_TESTED =
      " of PlantStore was not tested, because the store was unavailable, which R7 allows. If the"
          + " store is only slow in this test, give it a longer deadline:\n  ";

  RuleCheck on(PlantStore other) {
    return new RuleCheck(rule, other, timeLimit);
  }

  Call call(NewPlant plant, String occasion) {
    return call(Form.of(plant.id()), plant, occasion);
  }

  Call call(Form form, NewPlant plant, String occasion) {
    return new Call(form, store, plant, CALLERS, occasion);
  }

  /**
   * Makes a call, asserts that its outcome is one of the expected outcomes, and returns the
   * outcome.
   */
  Object outcome(Call call, Object... expected) {
    return outcome(call, call, expected);
  }

  private Object outcome(Callable<Object> made, Call call, Object... expected) {
    return require(call, Calls.concurrently(List.of(made), timeLimit).get(0), expected);
  }

  /**
   * Asserts that a call either returns the expected plant or fails with a rejection that the rules
   * allow. Returns whether the expected plant was returned.
   */
  boolean returns(NewPlant expected, NewPlant plant, String occasion) {
    return expected.equals(outcome(call(plant, occasion), expected));
  }

  /**
   * Asserts that a plant is stored. To find out, sends a rival plant with the same id, using the
   * other form of the method.
   */
  void assertStored(NewPlant expected, String occasion) {
    NewPlant rival = Plants.rival(expected.id(), -1);
    outcome(call(Form.of(expected.id() + 1), rival, occasion), expected);
  }

  /**
   * Asserts that each plant is either returned and stored, or rejected as the rules allow. The ids
   * of the plants must be free.
   */
  void assertStores(List<NewPlant> plants) {
    plants.stream()
        .filter(plant -> returns(plant, plant, FREE))
        .toList()
        .forEach(plant -> assertStored(plant, "for an id that an earlier call has taken"));
  }

  /** Asserts that each of several concurrent calls with different ids has its expected outcome. */
  void assertConcurrently(
      List<NewPlant> plants, String occasion, Function<NewPlant, Object> expected) {
    List<Call> calls = plants.stream().map(plant -> call(plant, occasion)).toList();
    List<Object> outcomes = Calls.concurrently(calls, timeLimit);
    for (int caller = 0; caller < calls.size(); caller++) {
      require(calls.get(caller), outcomes.get(caller), expected.apply(plants.get(caller)));
    }
  }

  /**
   * Asserts that all concurrent calls return the plant of one of the calls, and that this plant is
   * stored. Calls may instead be rejected if the rules allow it.
   */
  void assertOneWins(List<Call> calls, List<PlantStore> instances) {
    List<Object> outcomes = Calls.concurrently(calls, timeLimit);
    Object[] expected = calls.stream().map(Call::plant).toArray();
    for (int caller = 0; caller < calls.size(); caller++) {
      if (require(calls.get(caller), outcomes.get(caller), expected) instanceof NewPlant winner) {
        expected = new Object[] {winner};
      }
    }
    NewPlant winner = (NewPlant) expected[0];
    instances.forEach(each -> on(each).assertStored(winner, "after concurrent calls for the id"));
  }

  /** Asserts that the store becomes available within the time limit and returns the plant. */
  void assertAvailableAgain(NewPlant plant, String occasion) {
    Call call = call(plant, occasion);
    long end = System.nanoTime() + timeLimit.toNanos();
    while (outcome(call, plant, UNAVAILABLE)
        instanceof PlantStoreUnavailableException unavailable) {
      if (System.nanoTime() > end) {
        throw failure(VIOLATED, call, unavailable, plant);
      }
      LockSupport.parkNanos(10_000_000);
    }
  }

  /**
   * Asserts that an interrupted call either succeeds or reports that the store is unavailable, and
   * that a retry succeeds.
   */
  void assertSurvivesInterrupt(NewPlant plant, long delayNanos) {
    Call call = call(Form.BLOCKING, plant, "on a thread that is interrupted");
    outcome(() -> interrupted(call, delayNanos), call, plant, UNAVAILABLE);
    if (returns(plant, plant, "on a retry after an interrupt")) {
      assertStored(plant, "after an interrupt and a retry");
    }
  }

  private static Object interrupted(Call call, long delayNanos) {
    CompletableFuture<Void> interrupt =
        CompletableFuture.runAsync(
            Thread.currentThread()::interrupt, delayedExecutor(delayNanos, NANOSECONDS, CALLERS));
    if (delayNanos == 0) {
      interrupt.join(); // returns with the thread still interrupted
    }
    Object outcome = Calls.outcome(call);
    interrupt.join();
    return Thread.interrupted() ? outcome : "with the interrupt status of the thread cleared";
  }

  /**
   * Asserts that canceling a call does not affect another call, whether that call uses the same id
   * or a different id.
   */
  void assertSurvivesCancellation(NewPlant plant, NewPlant other) {
    String occasion = "while a call for id " + plant.id() + " is canceled";
    Call call = call(Form.ASYNCHRONOUS, other, occasion);
    Callable<Object> both =
        () -> {
          CompletionStage<NewPlant> canceled = call(plant, occasion).start();
          CompletionStage<NewPlant> remaining = call.start();
          canceled.toCompletableFuture().cancel(true);
          return Calls.await(remaining);
        };
    Object[] expected = Stream.of(plant, other).filter(each -> each.id() == other.id()).toArray();
    assertStored((NewPlant) outcome(both, call, expected), "after another call was canceled");
  }

  /**
   * Asserts that the asynchronous form does not block its caller for most of the time that it takes
   * to store the plants. This method makes up to ten attempts, each with a tenth of the plants,
   * because a busy machine may delay most of the attempts.
   */
  void assertDoesNotBlock(List<NewPlant> plants, String occasion) {
    List<Call> calls =
        plants.stream().map(plant -> call(Form.ASYNCHRONOUS, plant, occasion)).toList();
    int tenth = calls.size() / 10;
    if (IntStream.range(0, 10)
        .allMatch(attempt -> blocks(calls.subList(attempt * tenth, (attempt + 1) * tenth)))) {
      throw failure(VIOLATED, calls.get(0), "late", "not block its caller");
    }
  }

  private boolean blocks(List<Call> calls) {
    Callable<Boolean> blocks =
        () -> {
          long start = System.nanoTime();
          List<CompletionStage<NewPlant>> stages = calls.stream().map(Call::start).toList();
          long blocked = System.nanoTime() - start;
          stages.forEach(Calls::await);
          return blocked > 50_000_000 && blocked > (System.nanoTime() - start) / 2;
        };
    return !Calls.concurrently(List.of(blocks), timeLimit).get(0).equals(false);
  }

  /**
   * Asserts that an outcome is either one of the expected outcomes or a permitted rejection of the
   * plant.
   */
  private Object require(Call call, Object outcome, Object... expected) {
    boolean rejected = Plants.mayBeRejected(call.plant()) && rejects(outcome, call.plant());
    if (!rejected && Stream.of(expected).noneMatch(each -> isAsExpected(each, call, outcome))) {
      boolean untested = !expected[0].equals(FAULT) && isAsExpected(UNAVAILABLE, call, outcome);
      throw failure(untested ? NOT_TESTED : VIOLATED, call, outcome, expected);
    }
    return outcome;
  }

  private static boolean isAsExpected(Object expected, Call call, Object outcome) {
    if (expected.equals(FAULT)) {
      return isAsExpected(RuntimeException.class, call, outcome)
          && !UNAVAILABLE.isInstance(outcome)
          && !(outcome instanceof PlantIdTakenException)
          && !rejects(outcome, call.plant());
    }
    if (expected instanceof Class<?> type && outcome instanceof Throwable thrown) {
      boolean isBare = thrown.getCause() == null && thrown.getSuppressed().length == 0;
      return isBare && type.isInstance(thrown);
    }
    return expected.equals(outcome);
  }

  private static boolean rejects(Object outcome, NewPlant plant) {
    return outcome instanceof InvalidPlantException invalid && invalid.refuses(plant);
  }

  private AssertionError failure(String verdict, Call call, Object outcome, Object... expected) {
    NewPlant returned = outcome instanceof NewPlant plant ? plant : null;
    Throwable thrown = outcome instanceof Throwable failure ? failure : null;
    String must =
        Stream.of(expected).limit(2).map(each -> shown(each, returned)).collect(joining(" or "));
    String but =
        thrown == null
            ? "returned " + (returned == null ? outcome : Description.of(returned, call.plant()))
            : "threw " + thrown + detail(thrown);
    return new AssertionError(
        "Rule " + rule + verdict + call + "\n  must " + must + ",\n  but " + but, thrown);
  }

  private static String detail(Throwable thrown) {
    String hint = " (the exception must be created with the plant that the store received)";
    String cause = thrown.getCause() == null ? "" : " (the exception has a cause)";
    return thrown instanceof InvalidPlantException ? hint : cause;
  }

  private static String shown(Object expected, @Nullable NewPlant returned) {
    if (expected instanceof Class<?> type) {
      return "throw " + type.getSimpleName() + " without a cause or suppressed exceptions";
    }
    return expected instanceof NewPlant plant
        ? "return " + Description.of(plant, returned)
        : expected.toString();
  }
}
