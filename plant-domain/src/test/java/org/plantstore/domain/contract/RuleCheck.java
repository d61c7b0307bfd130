package org.plantstore.domain.contract;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.plantstore.domain.contract.Call.Form;
import org.plantstore.domain.contract.Call.Outcome;

/** Calls stores in one form, and fails the test if the outcome of a call breaks the rule. */
record RuleCheck(String rule, Form form, Duration timeLimit) {

  private static final Duration PAUSE = Duration.ofMillis(10);
  private static final int ATTEMPTS = 3;
  private static final String FAIL =
      "throw PlantStoreUnavailableException without a cause and suppressed exceptions";

  Call call(PlantStore store, @Nullable NewPlant plant, String occasion) {
    return new Call(form, store, plant, Call.CALLERS, occasion);
  }

  /** Puts a plant for later calls. Other rules check the returned plant. */
  @Nullable NewPlant put(PlantStore store, NewPlant plant, String occasion) {
    return outcomes(
            List.of(call(store, plant, occasion)),
            "return without an exception",
            outcome -> outcome.thrown() == null && !outcome.hangs())
        .get(0)
        .returned();
  }

  /** Makes the calls at once, and returns the plants that they return; calls may fail. */
  List<NewPlant> returnedAtOnce(List<Call> calls) {
    return outcomes(calls, "end", outcome -> !outcome.hangs()).stream()
        .map(Outcome::returned)
        .filter(Objects::nonNull)
        .toList();
  }

  void assertReturns(NewPlant expected, PlantStore store, NewPlant plant, String occasion) {
    List<Call> calls = List.of(call(store, plant, occasion));
    assertReturned(List.of(expected), calls, Call.atOnce(calls, timeLimit));
  }

  /** Asserts that a plant is stored by trying to take its id with another, in the other form. */
  void assertStored(NewPlant expected, PlantStore store, String occasion) {
    NewPlant rival = new NewPlant(expected.id(), "rival for id " + expected.id(), "rival");
    new RuleCheck(rule, form.other(), timeLimit).assertReturns(expected, store, rival, occasion);
  }

  /** Asserts that plants with free ids are returned, and stored. */
  void assertStores(List<NewPlant> plants, PlantStore store) {
    for (NewPlant plant : plants) {
      assertReturns(plant, store, plant, "for a free id");
    }
    for (NewPlant plant : plants) {
      assertStored(plant, store, "for an id that was free before");
    }
  }

  /** Asserts that each plant is returned when all of them are put at once. */
  void assertReturnsAtOnce(List<NewPlant> plants, PlantStore store, String occasion) {
    List<Call> calls = calls(plants, store, occasion);
    assertReturned(plants, calls, Call.atOnce(calls, timeLimit));
  }

  /** Asserts that all calls, made at once, return the plant of one of them, and returns it. */
  NewPlant assertOneWins(List<Call> calls) {
    List<Outcome> outcomes = Call.atOnce(calls, timeLimit);
    NewPlant winner = outcomes.get(0).returned();
    if (winner == null || calls.stream().noneMatch(call -> winner.equals(call.plant()))) {
      throw broken(calls.get(0), "return the plant of one of them", outcomes.get(0), null);
    }
    assertReturned(Collections.nCopies(calls.size(), winner), calls, outcomes);
    return winner;
  }

  /** Asserts that each call, all made at once, throws the exception that permits a retry. */
  void assertUnavailable(List<NewPlant> plants, PlantStore store, String occasion) {
    outcomes(calls(plants, store, occasion), FAIL, RuleCheck::permitsRetry);
  }

  private static boolean permitsRetry(Outcome outcome) {
    return outcome.thrown() instanceof PlantStoreUnavailableException unavailable
        && unavailable.getCause() == null
        && unavailable.getSuppressed().length == 0;
  }

  /** Asserts that the plant is returned, within the time limit, by a store that is back. */
  void assertAvailableAgain(NewPlant plant, PlantStore store, String occasion) {
    Call call = call(store, plant, occasion);
    long end = System.nanoTime() + timeLimit.toNanos();
    Outcome outcome;
    do {
      LockSupport.parkNanos(PAUSE.toNanos());
      outcome = Call.atOnce(List.of(call), timeLimit).get(0);
    } while (outcome.thrown() instanceof PlantStoreUnavailableException && System.nanoTime() < end);
    assertReturned(List.of(plant), List.of(call), List.of(outcome));
  }

  /** Asserts that an interrupt has no other effect than a failure that permits a retry. */
  void assertOutlivesInterrupt(NewPlant plant, PlantStore store, Duration delay) {
    List<NewPlant> plants = List.of(plant, neighbour(plant));
    List<Call> calls =
        List.of(
            call(store, plant, "in a thread that is interrupted meanwhile"),
            call(store, plants.get(1), "while the thread of another call is interrupted"));
    List<Outcome> outcomes = calls.get(0).interruptedBeside(calls.get(1), delay, timeLimit);
    assertReturned(plants, calls, outcomes, " or " + FAIL, RuleCheck::permitsRetry);
  }

  /** Asserts that calls, in the asynchronous form, succeed although another one is cancelled. */
  void assertOutlivesCancellation(NewPlant plant, PlantStore store) {
    List<NewPlant> plants = List.of(plant, neighbour(plant));
    List<Call> calls = calls(plants, store, "while a call for " + plant.id() + " is cancelled");
    CompletionStage<NewPlant> cancelled = call(store, plant, "to be cancelled").start(timeLimit);
    List<CompletionStage<NewPlant>> stages = started(calls);
    cancelled.toCompletableFuture().cancel(true);
    assertReturned(plants, calls, Call.ofStages(stages, timeLimit));
    assertStored(plant, store, "after an equal call was cancelled");
  }

  private static NewPlant neighbour(NewPlant plant) {
    return new NewPlant(-1 - plant.id(), "neighbour of " + plant.id(), null);
  }

  /** Asserts that calls that fail after a time do not block their caller for a quarter of it. */
  void assertDoesNotBlock(List<NewPlant> plants, PlantStore store, String occasion) {
    List<Call> calls = calls(plants, store, occasion);
    for (int attempt = 1; attempt <= ATTEMPTS; attempt++) { // a busy machine may delay one
      long start = System.nanoTime();
      List<CompletionStage<NewPlant>> stages = started(calls);
      long blocked = System.nanoTime() - start;
      List<Outcome> outcomes = Call.ofStages(stages, timeLimit);
      long lasted = System.nanoTime() - start;
      if (lasted < 10 * PAUSE.toNanos() || blocked < lasted / 4) {
        return;
      }
      if (attempt == ATTEMPTS) {
        throw broken(calls.get(0), "not block its caller", outcomes.get(0), plants.get(0));
      }
    }
  }

  private List<CompletionStage<NewPlant>> started(List<Call> calls) {
    return calls.stream().map(call -> call.start(timeLimit)).toList();
  }

  /** Asserts that an executor that the store needs, and that rejects its task, fails the stage. */
  void assertReportsRejection(NewPlant plant, PlantStore store) {
    ExecutorService closed = Executors.newCachedThreadPool();
    closed.shutdown();
    List<Call> calls = List.of(new Call(form, store, plant, closed, "with a closed executor"));
    assertReturned(
        List.of(plant),
        calls,
        Call.atOnce(calls, timeLimit),
        " or fail by its stage with RejectedExecutionException",
        outcome -> outcome.thrown() instanceof RejectedExecutionException);
  }

  void assertRefusesNull(PlantStore store) {
    List<Call> calls = new ArrayList<>(List.of(call(store, null, "instead of a plant")));
    if (form == Form.ASYNCHRONOUS) {
      calls.add(new Call(form, store, new NewPlant(1, "r9", null), null, "without an executor"));
    }
    outcomes(
        calls,
        "throw NullPointerException",
        outcome -> outcome.thrown() instanceof NullPointerException);
  }

  private List<Call> calls(List<NewPlant> plants, PlantStore store, String occasion) {
    return plants.stream().map(plant -> call(store, plant, occasion)).toList();
  }

  private List<Outcome> outcomes(List<Call> calls, String expected, Predicate<Outcome> asExpected) {
    List<Outcome> outcomes = Call.atOnce(calls, timeLimit);
    for (int caller = 0; caller < calls.size(); caller++) {
      if (!asExpected.test(outcomes.get(caller))) {
        throw broken(calls.get(caller), expected, outcomes.get(caller), null);
      }
    }
    return outcomes;
  }

  private void assertReturned(List<NewPlant> plants, List<Call> calls, List<Outcome> outcomes) {
    assertReturned(plants, calls, outcomes, "", outcome -> false);
  }

  private void assertReturned(
      List<NewPlant> plants,
      List<Call> calls,
      List<Outcome> outcomes,
      String orElse,
      Predicate<Outcome> permitted) {
    for (int caller = 0; caller < calls.size(); caller++) {
      NewPlant expected = plants.get(caller);
      NewPlant returned = outcomes.get(caller).returned();
      if (!expected.equals(returned) && !permitted.test(outcomes.get(caller))) {
        String description = "return " + Description.of(expected, returned) + orElse;
        throw broken(calls.get(caller), description, outcomes.get(caller), expected);
      }
    }
  }

  private AssertionError broken(
      Call call, String expected, Outcome outcome, @Nullable NewPlant plant) {
    Throwable thrown = outcome.thrown();
    String actual;
    if (outcome.hangs()) {
      actual = "had not returned after " + timeLimit.toMillis() + " ms";
    } else if (thrown == null) {
      actual = "returned " + Description.of(outcome.returned(), plant);
    } else {
      String suppressed = Arrays.toString(thrown.getSuppressed());
      actual =
          "threw " + thrown + ", caused by " + thrown.getCause() + ", suppressing " + suppressed;
    }
    String calls = rule + " of PlantStore is broken:\n  " + call;
    String message = calls + "\n  must " + expected + ",\n  but " + actual;
    return new AssertionError(message, thrown);
  }
}
