package org.plantstore.domain;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** The asynchronous forms that ports have by default; the contract kit tests them too. */
class AsynchronousFormTest {

  private static final NewPlant FERN = new NewPlant(1, "fern", null);

  private final Queue<Runnable> submitted = new ArrayDeque<>();
  private final List<NewPlant> called = new ArrayList<>();
  private final PlantStore store =
      plant -> {
        called.add(plant);
        return plant;
      };

  @Test
  void blocking_form_runs_on_the_executor_unless_it_is_cancelled_before() {
    List<Object> stored = outcome(store.putIfAbsentAsync(FERN, submitted::add));
    NewPlant moss = new NewPlant(2, "moss", null);
    store.putIfAbsentAsync(moss, submitted::add).toCompletableFuture().cancel(true);
    assertEquals(List.of(), called);
    submitted.forEach(Runnable::run);

    assertEquals(List.of(FERN), stored);
    assertEquals(List.of(FERN), called);
  }

  @Test
  void stage_fails_with_the_exception_itself_of_the_port_or_of_the_executor() {
    for (Throwable failure : List.of(new RejectedExecutionException(), new StackOverflowError())) {
      CreatePlant createPlant = plant -> fail(failure);

      assertEquals(List.of(failure), outcome(createPlant.createAsync(FERN, Runnable::run)));
      assertEquals(List.of(failure), outcome(store.putIfAbsentAsync(FERN, work -> fail(failure))));
    }
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
