package org.plantstore.domain.contract;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.plantstore.domain.contract.Calls.CALLERS;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
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
    Object outcome = Calls.atOnce(List.of(call), timeLimit).get(0);
    assertReturned(List.of(expected), call, outcome);
    return expected.equals(outcome);
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

  /** Asserts that each plant is returned when all of them are put at once. */
  void assertReturnsAtOnce(List<NewPlant> plants, PlantStore store, String occasion) {
    List<Call> calls = calls(plants, store, occasion);
    List<Object> outcomes = Calls.atOnce(calls, timeLimit);
    for (int caller = 0; caller < calls.size(); caller++) {
      assertReturned(List.of(plants.get(caller)), calls.get(caller), outcomes.get(caller));
    }
  }

  /** Makes the calls at once, and returns the plants that they return; calls may fail. */
  List<NewPlant> returnedAtOnce(List<Call> calls) {
    List<Object> outcomes = Calls.atOnce(calls, timeLimit);
    return outcomes.stream().filter(NewPlant.class::isInstance).map(NewPlant.class::cast).toList();
  }

  /** Asserts that all calls, made at once, return and store the plant of one of them. */
  void assertOneWins(List<Call> calls, List<PlantStore> instances) {
    List<Object> outcomes = Calls.atOnce(calls, timeLimit);
    Collection<NewPlant> winners = calls.stream().map(Call::plant).toList();
    for (int caller = 0; caller < calls.size(); caller++) {
      assertReturned(winners, calls.get(caller), outcomes.get(caller));
      if (outcomes.get(caller) instanceof NewPlant winner) {
        winners = List.of(winner);
      }
    }
    for (PlantStore instance :
        outcomes.get(0) instanceof NewPlant ? instances : List.<PlantStore>of()) {
      assertStored(winners.iterator().next(), instance, "for an id that concurrent calls took");
    }
  }

  /** Asserts that each call, all made at once, throws the exception that permits a retry. */
  void assertUnavailable(List<NewPlant> plants, PlantStore store, String occasion) {
    List<Call> calls = calls(plants, store, occasion);
    List<Object> outcomes = Calls.atOnce(calls, timeLimit);
    for (int caller = 0; caller < calls.size(); caller++) {
      if (!permitsRetry(outcomes.get(caller))) {
        throw broken(calls.get(caller), FAIL, outcomes.get(caller));
      }
    }
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
    Object outcome;
    do {
      LockSupport.parkNanos(10_000_000);
      outcome = Calls.atOnce(List.of(call), timeLimit).get(0);
    } while (outcome instanceof PlantStoreUnavailableException && System.nanoTime() < end);
    if (!plant.equals(outcome)) {
      throw broken(call, "return " + Description.of(plant) + " again", outcome);
    }
  }

  /** Asserts that an interrupt has no other effect than a failure that permits a retry. */
  void assertOutlivesInterrupt(NewPlant plant, PlantStore store, long delayNanos) {
    Call interrupted = call(store, plant, "in a thread that is interrupted meanwhile");
    Call other = call(store, neighbour(plant), "while the thread of another call is interrupted");
    Callable<Object> interruption = () -> interrupted(interrupted, delayNanos);
    List<Object> outcomes = Calls.atOnce(List.of(interruption, other), timeLimit);
    assertReturned(
        List.of(plant), interrupted, outcomes.get(0), " or " + FAIL, RuleCheck::permitsRetry);
    assertReturned(List.of(other.plant()), other, outcomes.get(1));
    if (returns(plant, store, plant, "again, after an interrupt")) {
      assertStored(plant, store, "after an interrupt and another call");
    }
  }

  @SuppressWarnings("ThreadPriorityCheck") // waiting would end the interrupt
  private static Object interrupted(Call call, long delayNanos) {
    Thread caller = Thread.currentThread();
    Future<?> interrupt =
        CALLERS.submit(() -> {
          LockSupport.parkNanos(delayNanos);
          caller.interrupt();
        });
    while (delayNanos == 0 && !interrupt.isDone()) {
      Thread.yield();
    }
    Object outcome = Calls.outcome(call);
    while (!interrupt.isDone()) {
      Thread.yield();
    }
    return Thread.interrupted() ? outcome : new IllegalStateException("the interrupt was cleared");
  }

  /** Asserts that a call that is cancelled has no effect on another for its id, or a neighbour. */
  void assertOutlivesCancellation(NewPlant plant, NewPlant other, PlantStore store) {
    String occasion = "while a call for " + plant.id() + " is cancelled";
    List<Call> calls = calls(List.of(plant, other, neighbour(plant)), store, occasion);
    List<CompletionStage<NewPlant>> stages = new ArrayList<>();
    Callable<Boolean> start = () -> calls.stream().map(Call::start).allMatch(stages::add);
    if (Calls.atOnce(List.of(start), timeLimit).get(0) instanceof Throwable failure) {
      throw broken(calls.get(0), "not block its caller", failure);
    }
    stages.get(0).toCompletableFuture().cancel(true);
    List<Callable<Object>> awaited =
        stages.stream().skip(1).<Callable<Object>>map(stage -> () -> Calls.await(stage)).toList();
    List<Object> outcomes = Calls.atOnce(awaited, timeLimit);
    assertReturned(List.of(plant, other), calls.get(1), outcomes.get(0));
    assertReturned(List.of(neighbour(plant)), calls.get(2), outcomes.get(1));
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
    List<Object> outcomes = new ArrayList<>();
    for (List<NewPlant> plants : attempts) {
      Callable<Boolean> blocks = () -> blocks(plants, store, occasion);
      Object outcome = Calls.atOnce(List.of(blocks), timeLimit).get(0);
      if (outcome.equals(false)) {
        return;
      }
      outcomes.add(outcome);
    }
    Call call = call(store, attempts.get(0).get(0), occasion);
    throw broken(call, "not block its caller", outcomes.get(0));
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

  void assertOutcome(String expected, Call call, Predicate<Object> asExpected) {
    Object outcome = Calls.atOnce(List.of(call), timeLimit).get(0);
    if (!asExpected.test(outcome)) {
      throw broken(call, expected, outcome);
    }
  }

  private void assertReturned(Collection<NewPlant> expected, Call call, Object outcome) {
    assertReturned(expected, call, outcome, "", other -> false);
  }

  /** Asserts that one of the plants is returned; a store may refuse what its engine cannot take. */
  private void assertReturned(
      Collection<NewPlant> expected,
      Call call,
      Object outcome,
      String orElse,
      Predicate<Object> permitted) {
    boolean refused = outcome instanceof InvalidPlantException && Plants.isRefusable(call.plant());
    if (!refused && !permitted.test(outcome) && !expected.contains(outcome)) {
      NewPlant returned = outcome instanceof NewPlant plant ? plant : null;
      String plant = Description.of(expected.iterator().next(), returned);
      String others = expected.size() > 1 ? " or the plant of another call" : "";
      String verdict = permitsRetry(outcome) ? NOT_SHOWN : BROKEN;
      throw failure(verdict, call, "return " + plant + others + orElse, outcome);
    }
  }

  private AssertionError broken(Call call, String expected, Object outcome) {
    return failure(BROKEN, call, expected, outcome);
  }

  private AssertionError failure(String verdict, Call call, String expected, Object outcome) {
    Throwable thrown = outcome instanceof Throwable failure ? failure : null;
    String actual = "returned " + outcome;
    if (outcome instanceof NewPlant returned) {
      actual = "returned " + Description.of(returned, call.plant());
    } else if (outcome instanceof TimeoutException) {
      actual = "had not returned after " + timeLimit.toMillis() + " ms";
    } else if (thrown != null) {
      String suppressed = Arrays.toString(thrown.getSuppressed());
      actual =
          "threw " + thrown + ", caused by " + thrown.getCause() + ", suppressing " + suppressed;
    }
    String message = rule + verdict + call + "\n  must " + expected + ",\n  but " + actual;
    return new AssertionError(message, thrown);
  }
}
