package org.plantstore.domain.contract;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.plantstore.domain.contract.Calls.CALLERS;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.plantstore.domain.contract.Calls.Form;

/** Calls stores in one form, and fails the test if the outcome of a call breaks the rule. */
record RuleCheck(String rule, Form form, Duration timeLimit) {

  /** A call of a store; failure messages contain the occasion. */
  record Call(Form form, PlantStore store, NewPlant plant, Executor executor, String occasion)
      implements Callable<Object> {

    @Override
    public Object call() {
      return form == Form.BLOCKING ? store.putIfAbsent(plant) : Calls.await(start());
    }

    /** Starts the call in the asynchronous form. */
    CompletionStage<NewPlant> start() {
      try {
        return store.putIfAbsentAsync(plant, executor);
      } catch (NullPointerException e) {
        throw e;
      } catch (RuntimeException e) {
        return CompletableFuture.failedFuture(
            new IllegalStateException("thrown at once, not by the stage", e));
      }
    }

    @Override
    public String toString() {
      String method = form == Form.BLOCKING ? "putIfAbsent" : "putIfAbsentAsync";
      return method + "(" + Description.of(plant) + ") " + occasion;
    }
  }

  private static final String FAIL =
      "throw PlantStoreUnavailableException without a cause and suppressed exceptions";

  private static final String BROKEN = " of PlantStore is broken:\n  ";

  private static final String NOT_SHOWN =
      " of PlantStore is not shown, because the store was unavailable, which R7 allows. It has to"
          + " wait for its database, also when calls conflict: if that is only slow here, give the"
          + " store a longer deadline in its test:\n  ";

  Call call(PlantStore store, NewPlant plant, String occasion) {
    return new Call(form, store, plant, CALLERS, occasion);
  }

  private List<Call> calls(List<NewPlant> plants, PlantStore store, String occasion) {
    return plants.stream().map(plant -> call(store, plant, occasion)).toList();
  }

  /** Asserts that a plant is returned, and returns whether the store has not refused it. */
  boolean returns(NewPlant expected, PlantStore store, NewPlant plant, String occasion) {
    Call call = call(store, plant, occasion);
    Object outcome = outcome(call);
    assertReturned(List.of(expected), call, outcome);
    return expected.equals(outcome);
  }

  private Object outcome(Callable<?> call) {
    return Calls.atOnce(List.of(call), timeLimit).get(0);
  }

  /** Asserts that a plant is stored by trying to take its id with another, in the other form. */
  void assertStored(NewPlant expected, PlantStore store, String occasion) {
    NewPlant rival = Plants.rival(expected.id(), -1);
    new RuleCheck(rule, form.other(), timeLimit).returns(expected, store, rival, occasion);
  }

  /** Asserts that plants with free ids are returned, and stored unless they are refused. */
  void assertStores(List<NewPlant> plants, PlantStore store) {
    plants.stream()
        .filter(plant -> returns(plant, store, plant, "for a free id"))
        .toList()
        .forEach(plant -> assertStored(plant, store, "for an id that was free before"));
  }

  /** Asserts that calls with different ids, made at once, return their plants. */
  void assertReturnsAtOnce(List<NewPlant> plants, PlantStore store, String occasion) {
    List<Call> calls = calls(plants, store, occasion);
    forEach(
        calls,
        Calls.atOnce(calls, timeLimit),
        (call, outcome) -> assertReturned(List.of(call.plant()), call, outcome));
  }

  private static void forEach(
      List<Call> calls, List<Object> outcomes, BiConsumer<Call, Object> check) {
    for (int caller = 0; caller < calls.size(); caller++) {
      check.accept(calls.get(caller), outcomes.get(caller));
    }
  }

  /** Asserts that all calls, made at once, return and store the plant of one of them. */
  void assertOneWins(List<Call> calls, List<PlantStore> instances) {
    List<Object> outcomes = Calls.atOnce(calls, timeLimit);
    List<NewPlant> rivals = calls.stream().map(Call::plant).toList();
    assertReturned(rivals, calls.get(0), outcomes.get(0));
    if (outcomes.get(0) instanceof NewPlant winner) {
      forEach(calls, outcomes, (call, outcome) -> assertReturned(List.of(winner), call, outcome));
      instances.forEach(store -> assertStored(winner, store, "after concurrent calls for its id"));
    }
  }

  /** Asserts that each call, all made at once, throws the exception that permits a retry. */
  void assertUnavailable(List<NewPlant> plants, PlantStore store, String occasion) {
    List<Call> calls = calls(plants, store, occasion);
    forEach(
        calls,
        Calls.atOnce(calls, timeLimit),
        (call, outcome) -> require(permitsRetry(outcome), call, FAIL, outcome));
  }

  private static boolean permitsRetry(Object outcome) {
    return outcome instanceof PlantStoreUnavailableException unavailable
        && unavailable.getCause() == null
        && unavailable.getSuppressed().length == 0;
  }

  /** Asserts that the plant is returned, within the time limit, by a store that is back. */
  void assertAvailableAgain(NewPlant plant, PlantStore store, String occasion) {
    Call call = call(store, plant, occasion);
    long end = System.nanoTime() + timeLimit.toNanos();
    Object outcome = outcome(call);
    while (outcome instanceof PlantStoreUnavailableException && System.nanoTime() < end) {
      LockSupport.parkNanos(10_000_000);
      outcome = outcome(call);
    }
    require(plant.equals(outcome), call, "return it again", outcome);
  }

  /** Asserts that an interrupt has no other effect than a failure that permits a retry. */
  void assertOutlivesInterrupt(NewPlant plant, PlantStore store, long delayNanos) {
    Call interrupted = call(store, plant, "in a thread that is interrupted meanwhile");
    Call other = call(store, neighbour(plant), "while the thread of another call is interrupted");
    Callable<Object> interruption = () -> interrupted(interrupted, delayNanos);
    List<Object> outcomes = Calls.atOnce(List.of(interruption, other), timeLimit);
    if (!permitsRetry(outcomes.get(0))) {
      assertReturned(List.of(plant), interrupted, outcomes.get(0));
    }
    assertReturned(List.of(other.plant()), other, outcomes.get(1));
    if (returns(plant, store, plant, "again, after an interrupt")) {
      assertStored(plant, store, "after an interrupt and another call");
    }
  }

  @SuppressWarnings("ThreadPriorityCheck") // waiting would end the interrupt
  private static Object interrupted(Call call, long delayNanos) {
    Thread caller = Thread.currentThread();
    FutureTask<?> interrupt =
        new FutureTask<>(() -> {
          LockSupport.parkNanos(delayNanos);
          caller.interrupt();
          return true;
        });
    (delayNanos == 0 ? (Executor) Runnable::run : CALLERS).execute(interrupt);
    Object outcome = Calls.outcome(call);
    while (!interrupt.isDone()) {
      Thread.yield();
    }
    boolean remains = Thread.interrupted();
    return remains ? outcome : new IllegalStateException("the interrupt was cleared");
  }

  /** Asserts that a call that is cancelled has no effect on another for its id, or a neighbour. */
  void assertOutlivesCancellation(NewPlant plant, NewPlant other, PlantStore store) {
    String occasion = "while a call for " + plant.id() + " is cancelled";
    List<Call> calls = calls(List.of(other, neighbour(plant)), store, occasion);
    List<Object> outcomes = new ArrayList<>();
    Callable<Boolean> all =
        () -> {
          CompletionStage<NewPlant> cancelled = call(store, plant, occasion).start();
          List<CompletionStage<NewPlant>> stages = calls.stream().map(Call::start).toList();
          cancelled.toCompletableFuture().cancel(true);
          return stages.stream().map(Calls::await).allMatch(outcomes::add);
        };
    Object ended = outcome(all);
    require(ended.equals(true), calls.get(0), "end", ended);
    assertReturned(List.of(plant, other), calls.get(0), outcomes.get(0));
    assertReturned(List.of(neighbour(plant)), calls.get(1), outcomes.get(1));
    assertStored((NewPlant) outcomes.get(0), store, "after a call for its id was cancelled");
  }

  private static NewPlant neighbour(NewPlant plant) {
    return Plants.plant(-1 - plant.id());
  }

  /**
   * Asserts that the asynchronous form returns before its executor has run anything, and that a
   * store that needs no executor does not block its caller for most of the time. A busy machine may
   * delay one attempt, or two.
   */
  void assertDoesNotBlock(List<List<NewPlant>> attempts, PlantStore store, String occasion) {
    Object blocks = true;
    for (List<NewPlant> plants : attempts) {
      blocks = outcome(() -> blocks(plants, store, occasion));
      if (blocks.equals(false)) {
        return;
      }
    }
    require(false, call(store, attempts.get(0).get(0), occasion), "not block its caller", blocks);
  }

  private static boolean blocks(List<NewPlant> plants, PlantStore store, String occasion) {
    CountDownLatch started = new CountDownLatch(1);
    AtomicBoolean used = new AtomicBoolean();
    Executor executor =
        task -> {
          used.set(true);
          CALLERS.execute(() -> {
            Calls.outcome(() -> started.await(1, MINUTES));
            task.run();
          });
        };
    long start = System.nanoTime();
    List<CompletionStage<NewPlant>> stages =
        plants.stream()
            .map(plant -> new Call(Form.ASYNCHRONOUS, store, plant, executor, occasion).start())
            .toList();
    long blocked = System.nanoTime() - start;
    started.countDown();
    stages.forEach(Calls::await);
    long lasted = System.nanoTime() - start;
    return !used.get() && blocked > 20_000_000 && blocked > lasted / 2;
  }

  void assertThrows(Class<? extends Exception> expected, NewPlant orElse, Call call) {
    Object outcome = outcome(call);
    boolean asExpected = expected.isInstance(outcome) || outcome.equals(orElse);
    require(asExpected, call, "throw " + expected.getSimpleName(), outcome);
  }

  /** Asserts that one of the plants is returned; a store may refuse what its engine cannot take. */
  private void assertReturned(List<NewPlant> expected, Call call, Object outcome) {
    boolean refused = outcome instanceof InvalidPlantException && Plants.isRefusable(call.plant());
    if (!refused && !expected.contains(outcome)) {
      NewPlant returned = outcome instanceof NewPlant plant ? plant : null;
      String plant = Description.of(expected.get(0), returned);
      String others = expected.size() > 1 ? " or the plant of another call" : "";
      String verdict = permitsRetry(outcome) ? NOT_SHOWN : BROKEN;
      throw failure(verdict, call, "return " + plant + others, outcome);
    }
  }

  private void require(boolean asExpected, Call call, String expected, Object outcome) {
    if (!asExpected) {
      throw failure(BROKEN, call, expected, outcome);
    }
  }

  private AssertionError failure(String verdict, Call call, String expected, Object outcome) {
    Throwable thrown = outcome instanceof Throwable failure ? failure : null;
    String actual = "returned " + outcome;
    if (outcome instanceof NewPlant returned) {
      actual = "returned " + Description.of(returned, call.plant());
    } else if (thrown != null) {
      String suppressed = Arrays.toString(thrown.getSuppressed());
      actual =
          "threw " + thrown + ", caused by " + thrown.getCause() + ", suppressing " + suppressed;
    }
    String message = rule + verdict + call + "\n  must " + expected + ",\n  but " + actual;
    return new AssertionError(message, thrown);
  }
}
