package org.plantstore.domain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** Tests behavior of the default asynchronous methods that the contract test kit does not cover. */
class AsynchronousFormTest {

  private static final NewPlant FERN = new NewPlant(1, "fern", null);

  @Test
  void blocking_method_runs_on_the_executor_unless_the_call_was_canceled_earlier() {
    Queue<Runnable> submitted = new ArrayDeque<>();
    Queue<NewPlant> called = new ArrayDeque<>();
    CreatePlant createPlant =
        plant -> {
          called.add(plant);
          return plant.plant();
        };
    CompletableFuture<Plant> created =
        createPlant.createAsync(FERN, submitted::add).toCompletableFuture();
    createPlant.createAsync(FERN, submitted::add).toCompletableFuture().cancel(true);
    assertEquals(0, called.size());
    submitted.forEach(Runnable::run);

    assertEquals(FERN.plant(), created.join());
    assertEquals(1, called.size());
  }

  @Test
  void stage_fails_with_an_error_from_the_call_or_an_exception_from_the_executor() {
    StackOverflowError error = new StackOverflowError();
    CreatePlant createPlant =
        plant -> {
          throw error;
        };
    assertFailure(error, createPlant.createAsync(FERN, Runnable::run));
    RejectedExecutionException rejection = new RejectedExecutionException();
    assertFailure(
        rejection,
        createPlant.createAsync(
            FERN,
            task -> {
              throw rejection;
            }));
  }

  private static void assertFailure(Throwable expected, CompletionStage<Plant> stage) {
    CompletableFuture<Plant> failed = stage.toCompletableFuture();
    assertSame(expected, assertThrows(CompletionException.class, failed::join).getCause());
  }
}
