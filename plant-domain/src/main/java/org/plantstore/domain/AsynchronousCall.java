package org.plantstore.domain;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/**
 * Runs a blocking call on an executor, and returns a {@link CompletionStage} for the call's
 * outcome.
 */
final class AsynchronousCall {

  private AsynchronousCall() {}

  /**
   * Runs the call on the executor, unless the returned stage is canceled before the call begins. If
   * the call throws an exception, the stage fails with that exception, whereas {@code
   * CompletableFuture.supplyAsync} would wrap it in a {@code CompletionException}. If the executor
   * rejects the call, the stage fails with the executor's exception.
   */
  static <T> CompletionStage<T> start(Supplier<T> call, Executor executor) {
    requireNonNull(executor, "executor");
    CompletableFuture<T> result = new CompletableFuture<>();
    try {
      executor.execute(() -> {
        try {
          if (!result.isDone()) {
            result.complete(call.get());
          }
        } catch (Throwable e) {
          result.completeExceptionally(e);
        }
      });
    } catch (RuntimeException | Error e) {
      result.completeExceptionally(e);
    }
    return result;
  }
}
