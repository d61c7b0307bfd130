package org.plantstore.domain;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/** The asynchronous form of a call that blocks. */
final class AsynchronousCall {

  private AsynchronousCall() {}

  /**
   * Runs the call on the executor unless the stage is canceled before. The stage fails with the
   * call's own exception, which {@code CompletableFuture.supplyAsync} would wrap.
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
