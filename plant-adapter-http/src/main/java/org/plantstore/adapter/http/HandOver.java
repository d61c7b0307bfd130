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
 * once, at the end of the turn, to one thread, which starts the threads of the others. Waking a
 * thread costs about as much as reading a request. Safe for use by many threads.
 */
@Singleton
final class HandOver {

  private final ExecutorService executor;
  private final EventLoopGroup eventLoops;
  private final FastThreadLocal<List<Work<?>>> gathered =
      new FastThreadLocal<>() {
        @Override
        protected List<Work<?>> initialValue() {
          return new ArrayList<>();
        }
      };

  HandOver(
      @Named(TaskExecutors.BLOCKING) ExecutorService executor,
      @Named("default") EventLoopGroup eventLoops) {
    this.executor = executor;
    this.eventLoops = eventLoops;
  }

  /**
   * Has the work done by another thread.
   *
   * @return what the work results in, or why it failed or could not be begun
   */
  <T> CompletableFuture<T> supply(Supplier<T> supplier) {
    Work<T> work = new Work<>(supplier, new CompletableFuture<>());
    for (EventExecutor eventLoop : eventLoops) {
      if (eventLoop.inEventLoop()) {
        List<Work<?>> turn = gathered.get();
        if (turn.isEmpty()) {
          eventLoop.execute(this::endTurn);
        }
        turn.add(work);
        return work.result;
      }
    }
    start(work);
    return work.result;
  }

  private void start(Work<?> work) {
    try {
      executor.execute(work);
    } catch (RuntimeException | Error e) {
      work.result.completeExceptionally(e);
    }
  }

  private void endTurn() {
    List<Work<?>> turn = List.copyOf(gathered.get());
    gathered.get().clear();
    try {
      executor.execute(() -> {
        turn.subList(1, turn.size()).forEach(this::start);
        turn.get(0).run();
      });
    } catch (RuntimeException | Error e) {
      turn.forEach(work -> work.result.completeExceptionally(e));
    }
  }

  private record Work<T>(Supplier<T> supplier, CompletableFuture<T> result) implements Runnable {

    @Override
    public void run() {
      try {
        result.complete(supplier.get());
      } catch (Throwable e) {
        result.completeExceptionally(e);
      }
    }
  }
}
