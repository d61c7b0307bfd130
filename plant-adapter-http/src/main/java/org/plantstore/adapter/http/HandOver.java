package org.plantstore.adapter.http;

import io.micronaut.scheduling.TaskExecutors;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

@Singleton
final class HandOver {

  private final ExecutorService executor;
  private final List<Lane> lanes = new ArrayList<>();
  static final int MODE = Integer.getInteger("ho", 1);

  HandOver(
      @Named(TaskExecutors.BLOCKING) ExecutorService executor,
      @Named(HttpSettings.EVENT_LOOPS) EventLoopGroup eventLoops) {
    this.executor = executor;
    for (EventExecutor eventLoop : eventLoops) {
      lanes.add(new Lane(executor, eventLoop));
    }
  }

  <T> CompletableFuture<T> supply(Supplier<T> work) {
    CompletableFuture<T> result = new CompletableFuture<>();
    for (Lane lane : lanes) {
      if (lane.eventLoop.inEventLoop()) {
        lane.add(work, result);
        return result;
      }
    }
    try {
      result.completeAsync(work, executor);
    } catch (RuntimeException | Error e) {
      result.completeExceptionally(e);
    }
    return result;
  }

  private static final class Lane {
    final ExecutorService executor;
    final EventExecutor eventLoop;
    List<Runnable> gathered = new ArrayList<>();
    final Queue<Runnable> finished = new ConcurrentLinkedQueue<>();
    final AtomicBoolean delivering = new AtomicBoolean();

    Lane(ExecutorService executor, EventExecutor eventLoop) {
      this.executor = executor;
      this.eventLoop = eventLoop;
    }

    <T> void add(Supplier<T> work, CompletableFuture<T> result) {
      if (gathered.isEmpty()) {
        eventLoop.execute(this::endTurn);
      }
      gathered.add(() -> {
        T value;
        try {
          value = work.get();
        } catch (Throwable e) {
          finish(() -> result.completeExceptionally(e));
          return;
        }
        if ((MODE & 2) != 0) {
          finish(() -> result.complete(value));
        } else {
          result.complete(value);
        }
      });
    }

    void finish(Runnable r) {
      finished.add(r);
      if (delivering.compareAndSet(false, true)) {
        executor.execute(this::deliver);
      }
    }

    void deliver() {
      eventLoop.execute(this::drain);
    }

    void drain() {
      delivering.set(false);
      Runnable r;
      while ((r = finished.poll()) != null) {
        r.run();
      }
    }

    void endTurn() {
      List<Runnable> turn = gathered;
      gathered = new ArrayList<>();
      if ((MODE & 1) != 0) {
        executor.execute(() -> {
          for (int i = 1; i < turn.size(); i++) {
            executor.execute(turn.get(i));
          }
          turn.get(0).run();
        });
      } else {
        turn.forEach(executor::execute);
      }
    }
  }
}
