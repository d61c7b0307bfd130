package org.plantstore.domain.contract;

import static java.util.stream.Collectors.joining;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.plantstore.domain.contract.Call.Outcome;

/** Calls stores, and fails the test in the rule's words if what comes of it breaks the rule. */
record RuleCheck(Rule rule, Duration timeLimit) {

  /**
   * Puts a plant that later calls are about, and answers what the store does. That may be anything,
   * even null: it is for other rules to refuse it.
   */
  @Nullable NewPlant put(PlantStore store, NewPlant plant, String occasion)
      throws InterruptedException {
    Call call = new Call(store, plant, occasion);
    Outcome outcome = outcome(call);
    if (outcome.failure() != null || outcome.hangs()) {
      throw broken(call, "answer without an exception", outcome);
    }
    return outcome.answer();
  }

  /** Answers what is answered to the calls, made at once; those that fail have no answer. */
  List<NewPlant> answersAtOnce(List<Call> calls) throws InterruptedException {
    List<Outcome> outcomes = Call.atOnce(calls, timeLimit);
    for (int caller = 0; caller < calls.size(); caller++) {
      if (outcomes.get(caller).hangs()) {
        throw broken(calls.get(caller), "end", outcomes.get(caller));
      }
    }
    return outcomes.stream().flatMap(outcome -> Stream.ofNullable(outcome.answer())).toList();
  }

  void assertAnswers(NewPlant expected, PlantStore store, NewPlant plant, String occasion)
      throws InterruptedException {
    Call call = new Call(store, plant, occasion);
    assertAnswered(expected, call, outcome(call));
  }

  /** Asserts what is held by trying to take the id with another plant, which R2 forbids. */
  void assertHolds(NewPlant expected, PlantStore store, String occasion)
      throws InterruptedException {
    NewPlant rival = new NewPlant(expected.id(), "rival for id " + expected.id(), "rival");
    assertAnswers(expected, store, rival, occasion);
  }

  /** Asserts that each plant is answered, all of them put at once. */
  void assertAnswersAtOnce(List<NewPlant> plants, PlantStore store, String occasion)
      throws InterruptedException {
    List<Call> calls = plants.stream().map(plant -> new Call(store, plant, occasion)).toList();
    List<Outcome> outcomes = Call.atOnce(calls, timeLimit);
    for (int caller = 0; caller < calls.size(); caller++) {
      assertAnswered(plants.get(caller), calls.get(caller), outcomes.get(caller));
    }
  }

  /** Asserts that all of the calls, made at once, answer the plant of one of them; answers it. */
  NewPlant assertOneWins(List<Call> calls) throws InterruptedException {
    List<Outcome> outcomes = Call.atOnce(calls, timeLimit);
    NewPlant winner = outcomes.get(0).answer();
    if (winner != null
        && calls.stream().anyMatch(call -> winner.equals(call.plant()))
        && outcomes.stream().allMatch(outcome -> winner.equals(outcome.answer()))) {
      return winner;
    }
    throw rule.broken(
        calls.stream().map(Call::toString).collect(joining("\n  and ")),
        "all answer the plant of one of them",
        outcomes.stream().map(outcome -> shown(outcome, null)).collect(joining("\n  and ")),
        outcomes.stream()
            .flatMap(outcome -> Stream.ofNullable(outcome.failure()))
            .findFirst()
            .orElse(null));
  }

  /** Asserts that each plant is refused with the exception that asks for trying again. */
  void assertUnavailable(List<NewPlant> plants, PlantStore store, String occasion)
      throws InterruptedException {
    List<Call> calls = plants.stream().map(plant -> new Call(store, plant, occasion)).toList();
    List<Outcome> outcomes = Call.atOnce(calls, timeLimit);
    for (int caller = 0; caller < calls.size(); caller++) {
      Outcome outcome = outcomes.get(caller);
      if (!(outcome.failure() instanceof PlantStoreUnavailableException failure)
          || failure.getCause() != null
          || failure.getSuppressed().length > 0) {
        throw broken(
            calls.get(caller),
            "throw PlantStoreUnavailableException without a cause and suppressed exceptions",
            outcome);
      }
    }
  }

  void assertRefusesNull(PlantStore store) throws InterruptedException {
    Call call = new Call(store, null, "instead of a plant");
    Outcome outcome = outcome(call);
    if (!(outcome.failure() instanceof NullPointerException)) {
      throw broken(call, "throw NullPointerException", outcome);
    }
  }

  private Outcome outcome(Call call) throws InterruptedException {
    return Call.atOnce(List.of(call), timeLimit).get(0);
  }

  private void assertAnswered(NewPlant expected, Call call, Outcome outcome) {
    if (!expected.equals(outcome.answer())) {
      throw rule.broken(
          call.toString(),
          "answer " + Shown.plantBeside(expected, outcome.answer()),
          shown(outcome, expected),
          outcome.failure());
    }
  }

  private AssertionError broken(Call call, String expected, Outcome outcome) {
    return rule.broken(call.toString(), expected, shown(outcome, null), outcome.failure());
  }

  private String shown(Outcome outcome, @Nullable NewPlant expected) {
    Throwable failure = outcome.failure();
    if (outcome.hangs()) {
      return "had not returned after " + timeLimit.toMillis() + " ms";
    }
    if (failure == null) {
      return "answered " + Shown.plantBeside(outcome.answer(), expected);
    }
    StringBuilder shown = new StringBuilder("threw ").append(failure);
    if (failure.getCause() != null) {
      shown.append(", caused by ").append(failure.getCause());
    }
    for (Throwable suppressed : failure.getSuppressed()) {
      shown.append(", suppressing ").append(suppressed);
    }
    return shown.toString();
  }
}
