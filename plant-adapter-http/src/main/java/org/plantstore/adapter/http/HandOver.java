package org.plantstore.adapter.http;

import io.micronaut.scheduling.TaskExecutors;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.FastThreadLocal;
import jakarta.inject.Named;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;

/**
 * Hands blocking work over from event loops to threads: all that comes up in one turn of a loop at
 * once, at the end of the turn. Waking a thread costs about as much as reading a request. Safe for
 * use by many threads.
 */
@Singleton
final class HandOver implements Executor {

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

  @Override
  public void execute(Runnable work) {
    for (EventExecutor eventLoop : eventLoops) {
      if (eventLoop.inEventLoop()) {
        List<Runnable> turn = gathered.get();
        turn.add(work);
        if (turn.size() == 1) {
          eventLoop.execute(this::handOver);
        }
        return;
      }
    }
    executor.execute(work);
  }

  private void handOver() {
    List<Runnable> turn = List.copyOf(gathered.get());
    gathered.get().clear();
    turn.forEach(executor::execute);
  }
}
