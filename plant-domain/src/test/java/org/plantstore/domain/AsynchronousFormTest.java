package org.plantstore.domain;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** The asynchronous forms that ports have by default; the contract kit tests them for a store. */
class AsynchronousFormTest {

  private static final NewPlant FERN = new NewPlant(1, "fern", null);
  private static final CreatePlant CREATE_PLANT = NewPlant::plant;
  private static final PlantStore STORE = plant -> plant;

  private final Queue<Runnable> submitted = new ArrayDeque<>();

  @Test
  void blocking_form_runs_on_the_executor() {
    List<Object> created = outcome(CREATE_PLANT.createAsync(FERN, submitted::add));
    List<Object> stored = outcome(STORE.putIfAbsentAsync(FERN, submitted::add));
    assertEquals(List.of(), created);
    submitted.forEach(Runnable::run);

    assertEquals(List.of(FERN.plant()), created);
    assertEquals(List.of(FERN), stored);
  }

  @Test
  void stage_fails_with_the_exception_itself_of_the_port_or_of_the_executor() {
    for (Throwable failure : List.of(new RejectedExecutionException(), new StackOverflowError())) {
      CreatePlant createPlant = plant -> fail(failure);
      PlantStore store = plant -> fail(failure);

      assertEquals(List.of(failure), outcome(createPlant.createAsync(FERN, Runnable::run)));
      assertEquals(List.of(failure), outcome(store.putIfAbsentAsync(FERN, Runnable::run)));
      assertEquals(List.of(failure), outcome(STORE.putIfAbsentAsync(FERN, work -> fail(failure))));
    }
  }

  @Test
  void call_that_is_cancelled_before_its_turn_does_not_run() {
    List<NewPlant> called = new ArrayList<>();
    PlantStore store =
        plant -> {
          called.add(plant);
          return plant;
        };
    store.putIfAbsentAsync(FERN, submitted::add).toCompletableFuture().cancel(true);
    submitted.forEach(Runnable::run);

    assertEquals(List.of(), called);
  }

  /** Returns the result or the exception of the stage, once it completes. */
  private static List<Object> outcome(CompletionStage<?> stage) {
    List<Object> outcome = new ArrayList<>();
    CompletionStage<?> unused =
        stage.whenComplete((result, failure) -> outcome.add(failure == null ? result : failure));
    return outcome;
  }

  @SuppressWarnings({"TypeParameterUnusedInFormals", "unchecked"}) // it never returns
  private static <T, E extends Throwable> T fail(Throwable failure) throws E {
    throw (E) failure;
  }
}
