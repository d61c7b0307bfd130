package org.plantstore.domain;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/** Adapts the blocking form of a port to its asynchronous form. */
final class Calls {

  private Calls() {}

  /**
   * Runs the call on the executor, unless the stage is cancelled before. The stage fails with the
   * exception of the call itself, which {@code supplyAsync} would wrap.
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
