package org.plantstore.adapter.http.connection;

import io.micronaut.scheduling.TaskExecutors;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/**
 * Runs blocking work off the event loop. Work submitted during one iteration of an event loop is
 * started together, so that only one thread has to be woken, which starts the others: waking a
 * thread costs about as much as reading a request. Safe for use by many threads.
 */
@Singleton
public final class BlockingWork {

  private final Executor threads;
  private final EventLoopGroup eventLoops;
  private final ThreadLocal<List<Task<?>>> submitted = ThreadLocal.withInitial(ArrayList::new);

  /** Creates the hand-over from these event loops to these threads. */
  public BlockingWork(
      @Named(TaskExecutors.BLOCKING) Executor threads,
      @Named("default") EventLoopGroup eventLoops) {
    this.threads = threads;
    this.eventLoops = eventLoops;
  }

  /** Returns the result of the work, or why it failed or no thread could be had for it. */
  public <T> CompletableFuture<T> submit(Supplier<T> work) {
    Task<T> task = new Task<>(work, new CompletableFuture<>());
    for (EventExecutor eventLoop : eventLoops) {
      if (eventLoop.inEventLoop()) {
        startLater(eventLoop, task);
        return task.result;
      }
    }
    task.start(threads);
    return task.result;
  }

  private void startLater(EventExecutor eventLoop, Task<?> task) {
    try {
      if (submitted.get().isEmpty()) {
        eventLoop.execute(this::startSubmitted);
      }
      submitted.get().add(task);
    } catch (RuntimeException | Error e) {
      task.result.completeExceptionally(e);
    }
  }

  private void startSubmitted() {
    List<Task<?>> tasks = submitted.get();
    submitted.remove(); // first, so that the next task is started whatever becomes of these
    try {
      threads.execute(() -> {
        tasks.subList(1, tasks.size()).forEach(task -> task.start(threads));
        tasks.get(0).start(Runnable::run);
      });
    } catch (RuntimeException | Error e) {
      tasks.forEach(task -> task.result.completeExceptionally(e));
    }
  }

  private record Task<T>(Supplier<T> work, CompletableFuture<T> result) {

    void start(Executor threads) {
      try {
        result.completeAsync(work, threads);
      } catch (RuntimeException | Error e) {
        result.completeExceptionally(e);
      }
    }
  }
}
