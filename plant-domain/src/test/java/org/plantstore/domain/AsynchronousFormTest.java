package org.plantstore.domain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** The asynchronous forms that ports have by default. */
class AsynchronousFormTest {

  private static final NewPlant FERN = new NewPlant(1, "fern", null);

  private final Queue<Runnable> submitted = new ArrayDeque<>();

  @Test
  void blocking_form_runs_on_the_executor() {
    CreatePlant createPlant = NewPlant::plant;
    PlantStore store = plant -> plant;

    List<Object> created = outcome(createPlant.createAsync(FERN, submitted::add));
    List<Object> stored = outcome(store.putIfAbsentAsync(FERN, submitted::add));
    assertEquals(List.of(), created);
    submitted.forEach(Runnable::run);

    assertEquals(List.of(FERN.plant()), created);
    assertEquals(List.of(FERN), stored);
  }

  @Test
  void stage_fails_with_the_exception_itself() {
    for (Throwable failure :
        List.of(
            new PlantStoreUnavailableException("away"),
            new PlantIdTakenException(1),
            new IllegalStateException(),
            new StackOverflowError())) {
      CreatePlant createPlant =
          plant -> {
            throw unchecked(failure);
          };
      PlantStore store =
          plant -> {
            throw unchecked(failure);
          };

      assertEquals(List.of(failure), outcome(createPlant.createAsync(FERN, Runnable::run)));
      assertEquals(List.of(failure), outcome(store.putIfAbsentAsync(FERN, Runnable::run)));
    }
  }

  @Test
  void stage_fails_with_the_exception_of_an_executor_that_does_not_accept_the_call() {
    for (Throwable failure : List.of(new RejectedExecutionException(), new OutOfMemoryError())) {
      Executor executor =
          work -> {
            throw unchecked(failure);
          };

      assertEquals(
          List.of(failure),
          outcome(((PlantStore) plant -> plant).putIfAbsentAsync(FERN, executor)));
    }
  }

  @Test
  @SuppressWarnings("NullAway") // this test passes null
  void null_is_refused_at_once() {
    CreatePlant createPlant = NewPlant::plant;
    PlantStore store = plant -> plant;
    List<Function<Executor, CompletionStage<?>>> calls =
        List.of(
            executor -> createPlant.createAsync(null, executor),
            executor -> store.putIfAbsentAsync(null, executor));

    calls.forEach(
        call -> assertThrows(NullPointerException.class, () -> call.apply(submitted::add)));
    assertThrows(NullPointerException.class, () -> createPlant.createAsync(FERN, null));
    assertThrows(NullPointerException.class, () -> store.putIfAbsentAsync(FERN, null));
    assertEquals(0, submitted.size());
  }

  /** Returns the result or the exception of the stage, once it completes. */
  private static List<Object> outcome(CompletionStage<?> stage) {
    List<Object> outcome = new ArrayList<>();
    CompletionStage<?> unused =
        stage.whenComplete((result, failure) -> outcome.add(failure == null ? result : failure));
    return outcome;
  }

  private static RuntimeException unchecked(Throwable failure) {
    if (failure instanceof Error error) {
      throw error;
    }
    return (RuntimeException) failure;
  }
}
