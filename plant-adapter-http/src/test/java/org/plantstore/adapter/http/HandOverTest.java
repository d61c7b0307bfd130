package org.plantstore.adapter.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.local.LocalIoHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@SuppressWarnings("FutureReturnValueIgnored") // work that is only counted
@Timeout(60)
class HandOverTest {

  private final EventLoopGroup eventLoops =
      new MultiThreadIoEventLoopGroup(2, LocalIoHandler.newFactory());
  private final Threads threads = new Threads();
  private final HandOver handOver = new HandOver(threads, eventLoops);

  @AfterEach
  void close() throws InterruptedException {
    eventLoops.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
  }

  @Test
  void work_of_one_turn_is_handed_over_to_one_thread_at_its_end() throws Exception {
    List<CompletableFuture<Integer>> results = new ArrayList<>();
    int handedOverDuringTheTurn =
        eventLoops
            .next()
            .submit(() -> {
              for (int number = 0; number < 3; number++) {
                int value = number;
                results.add(handOver.supply(() -> value));
              }
              return threads.works.size();
            })
            .get();
    finishTurns();

    assertEquals(0, handedOverDuringTheTurn);
    assertEquals(1, threads.works.size());
    threads.works.remove(0).run();
    assertEquals(
        List.of(0),
        results.stream().filter(CompletableFuture::isDone).map(CompletableFuture::join).toList());
    assertEquals(2, threads.works.size());
    threads.works.forEach(Runnable::run);
    assertEquals(List.of(0, 1, 2), results.stream().map(CompletableFuture::join).toList());
  }

  @Test
  void work_does_not_wait_for_other_work_of_its_turn() throws Exception {
    CompletableFuture<Integer> handedOverBefore =
        eventLoops
            .next()
            .submit(() -> {
              CompletableFuture<Integer> first = handOver.supply(threads.works::size);
              handOver.supply(() -> 1);
              handOver.supply(() -> 1);
              return first;
            })
            .get();
    finishTurns();

    threads.works.remove(0).run();

    assertEquals(2, handedOverBefore.join());
  }

  @Test
  void work_that_cannot_be_begun_fails_and_does_not_keep_the_rest_of_its_turn_from_it()
      throws Exception {
    List<CompletableFuture<Integer>> results =
        eventLoops
            .next()
            .submit(() -> List.of(handOver.supply(() -> 1), handOver.supply(() -> 2)))
            .get();
    finishTurns();

    threads.refuse = true;
    threads.works.remove(0).run();

    assertEquals(1, results.get(0).join());
    assertInstanceOf(
        RejectedExecutionException.class,
        assertThrows(ExecutionException.class, results.get(1)::get).getCause());
  }

  @Test
  void failure_of_work_is_its_result() {
    AssertionError failure = new AssertionError("of the work");
    CompletableFuture<Integer> result =
        handOver.supply(() -> {
          throw failure;
        });
    threads.works.remove(0).run();

    assertSame(failure, assertThrows(ExecutionException.class, result::get).getCause());
  }

  @Test
  void work_of_other_threads_is_handed_over_at_once() {
    handOver.supply(() -> 1);

    assertEquals(1, threads.works.size());
  }

  @Test
  void work_that_is_refused_fails_and_does_not_hold_up_what_comes_next() throws Exception {
    threads.refuse = true;
    List<CompletableFuture<Integer>> ofOneTurn =
        eventLoops
            .next()
            .submit(() -> List.of(handOver.supply(() -> 1), handOver.supply(() -> 1)))
            .get();
    CompletableFuture<Integer> ofAnotherLoop =
        eventLoops.next().submit(() -> handOver.supply(() -> 1)).get();
    CompletableFuture<Integer> ofAnotherThread = handOver.supply(() -> 1);
    finishTurns();
    threads.refuse = false;

    for (CompletableFuture<Integer> refused :
        List.of(ofOneTurn.get(0), ofOneTurn.get(1), ofAnotherLoop, ofAnotherThread)) {
      assertInstanceOf(
          RejectedExecutionException.class,
          assertThrows(ExecutionException.class, refused::get).getCause());
    }
    CompletableFuture<Integer> next =
        eventLoops.next().submit(() -> handOver.supply(() -> 2)).get();
    CompletableFuture<Integer> last =
        eventLoops.next().submit(() -> handOver.supply(() -> 3)).get();
    finishTurns();
    threads.works.forEach(Runnable::run);
    assertEquals(List.of(2, 3), List.of(next.get(), last.get()));
  }

  /** Each loop does its tasks in order, so that what they brought up is handed over then. */
  private void finishTurns() throws InterruptedException, ExecutionException {
    for (int loop = 0; loop < 2; loop++) {
      eventLoops.next().submit(() -> {}).get();
    }
  }

  private static final class Threads extends AbstractExecutorService {

    private final List<Runnable> works = new ArrayList<>();
    private boolean refuse;

    @Override
    public synchronized void execute(Runnable work) {
      if (refuse) {
        throw new RejectedExecutionException();
      }
      works.add(work);
    }

    @Override
    public void shutdown() {}

    @Override
    public List<Runnable> shutdownNow() {
      return List.of();
    }

    @Override
    public boolean isShutdown() {
      return false;
    }

    @Override
    public boolean isTerminated() {
      return false;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
      return true;
    }
  }
}
