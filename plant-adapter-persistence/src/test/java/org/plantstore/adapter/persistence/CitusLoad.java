package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongPredicate;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * Callers who create plants with random ids until this is closed. They wait for each of them,
 * except for plants of a node that fails, whose callers do not wait for each other either.
 */
final class CitusLoad implements AutoCloseable {

  private static final int CALLERS = 64;

  record Create(long id, boolean isStored, long began, long ended) {}

  private final ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
  private final Queue<Create> creates = new ConcurrentLinkedQueue<>();
  private volatile boolean ends;

  /** Begins to create plants; those with these ids are waited for. */
  CitusLoad(List<PlantStore> stores, LongPredicate isWaitedFor) {
    for (int caller = 0; caller < CALLERS; caller++) {
      PlantStore store = stores.get(caller % stores.size());
      callers.execute(() -> {
        Random random = new Random();
        while (!ends) {
          long id = random.nextLong();
          CompletableFuture<Void> create = create(store, id);
          if (isWaitedFor.test(id)) {
            create.join();
          }
        }
      });
    }
  }

  private CompletableFuture<Void> create(PlantStore store, long id) {
    long began = System.nanoTime();
    return store
        .putIfAbsentAsync(new NewPlant(id, "fern " + id, null), Runnable::run)
        .handle((stored, failure) -> {
          assertTrue(failure == null || failure instanceof PlantStoreUnavailableException);
          creates.add(new Create(id, failure == null, began, System.nanoTime()));
          return (Void) null;
        })
        .toCompletableFuture();
  }

  /** Waits until so many creates of the ids have begun and ended from now on, and returns them. */
  List<Create> await(int number, LongPredicate ids) {
    long from = System.nanoTime();
    List<Create> since;
    do {
      LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
      since =
          creates.stream()
              .filter(create -> create.began - from >= 0 && ids.test(create.id))
              .toList();
    } while (since.size() < number);
    return since;
  }

  /** Returns the time within which 99 of 100 creates ended. */
  static Duration p99(List<Create> creates) {
    long[] nanos = creates.stream().mapToLong(each -> each.ended - each.began).sorted().toArray();
    return Duration.ofNanos(nanos[nanos.length * 99 / 100]);
  }

  /** Ends the load, and requires that each plant that was answered is there as it was answered. */
  void assertNothingIsLost(PostgresServer server) throws Exception {
    close();
    List<String> ids =
        creates.stream().filter(Create::isStored).map(each -> "" + each.id).distinct().toList();
    assertEquals(
        "" + ids.size(),
        server.single(
            "SELECT count(*) FROM plant WHERE name = 'fern ' || id AND id = ANY('{%s}')"
                .formatted(String.join(",", ids))),
        "acknowledged plants");
  }

  @Override
  public void close() {
    ends = true;
    callers.shutdown();
    while (!callers.isTerminated()) {
      LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
    }
  }
}
