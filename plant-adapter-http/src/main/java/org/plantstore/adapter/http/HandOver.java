package org.plantstore.adapter.http;

import io.micronaut.scheduling.TaskExecutors;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.FastThreadLocal;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.function.Supplier;

/**
 * Hands blocking work over from event loops to threads: all that comes up in one turn of a loop at
 * once, at the end of the turn. Waking a thread costs about as much as reading a request. Safe for
 * use by many threads.
 */
@Singleton
final class HandOver {

  private final ExecutorService executor;
  private final EventLoopGroup eventLoops;
  private final FastThreadLocal<List<Runnable>> gathered =
      new FastThreadLocal<>() {
        @Override
        protected List<Runnable> initialValue() {
          return new ArrayList<>();
        }
      };

  HandOver(
      @Named(TaskExecutors.BLOCKING) ExecutorService executor,
      @Named(HttpSettings.EVENT_LOOPS) EventLoopGroup eventLoops) {
    this.executor = executor;
    this.eventLoops = eventLoops;
  }

  /**
   * Has the work done by another thread.
   *
   * @return what the work results in, or why it failed or could not be begun
   */
  <T> CompletableFuture<T> supply(Supplier<T> work) {
    CompletableFuture<T> result = new CompletableFuture<>();
    Runnable start = () -> start(work, result);
    for (EventExecutor eventLoop : eventLoops) {
      if (eventLoop.inEventLoop()) {
        List<Runnable> turn = gathered.get();
        if (turn.isEmpty()) {
          eventLoop.execute(this::endTurn);
        }
        turn.add(start);
        return result;
      }
    }
    start.run();
    return result;
  }

  private <T> void start(Supplier<T> work, CompletableFuture<T> result) {
    try {
      result.completeAsync(work, executor);
    } catch (RuntimeException | Error e) {
      result.completeExceptionally(e);
    }
  }

  private void endTurn() {
    List<Runnable> turn = List.copyOf(gathered.get());
    gathered.get().clear();
    turn.forEach(Runnable::run);
  }
}
