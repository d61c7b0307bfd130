package org.plantstore.domain;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/** Runs the blocking form of a port for its asynchronous one. */
final class Calls {

  private Calls() {}

  /**
   * Runs a call on the executor. Unlike {@link CompletableFuture#supplyAsync}, the stage fails with
   * the exception of the call itself, and with that of an executor that does not accept it.
   */
  static <T> CompletionStage<T> start(Supplier<T> call, Executor executor) {
    requireNonNull(executor, "executor");
    CompletableFuture<T> result = new CompletableFuture<>();
    Runnable task =
        () -> {
          try {
            result.complete(call.get());
          } catch (Throwable e) {
            result.completeExceptionally(e);
          }
        };
    try {
      executor.execute(task);
    } catch (RuntimeException | Error e) {
      result.completeExceptionally(e);
    }
    return result;
  }
}
