package org.plantstore.app;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.plantstore.domain.NewPlant;

/**
 * Clients that create plants without end, half of them with contended ids, and retry unanswered
 * creates as the interface asks. They record all answers. Safe for use by many threads.
 */
final class ChaosWriters implements AutoCloseable {

  /** The number of latest ids for which writers compete. */
  private static final int CONTESTED_IDS = 200;

  private static final Duration REPEAT_PAUSE = Duration.ofMillis(100);

  private final Supplier<ServiceProcess> service;
  private final ExecutorService threads;

  private final AtomicLong lastId = new AtomicLong();
  private final AtomicLong lastName = new AtomicLong();

  /** The number of retries. */
  final AtomicLong repeats = new AtomicLong();

  /** The plant that was acknowledged for each id. */
  final Map<Long, NewPlant> acknowledged = new ConcurrentHashMap<>();

  /** The plants that were refused because their id is taken. */
  final Set<NewPlant> refused = ConcurrentHashMap.newKeySet();

  /** Answers that contradict others, or are not allowed for a create. */
  final Queue<String> surprises = new ConcurrentLinkedQueue<>();

  private volatile boolean stopped;

  /**
   * Begins to create plants.
   *
   * @param service the service that runs now
   */
  ChaosWriters(int writers, Supplier<ServiceProcess> service) {
    this.service = service;
    this.threads = Executors.newFixedThreadPool(writers);
    for (int writer = 0; writer < writers; writer++) {
      threads.execute(this::write);
    }
  }

  /** Returns when this number of further plants was acknowledged. */
  void awaitProgress(int plants) {
    int goal = acknowledged.size() + plants;
    Await.until(this::toString, Await.LIMIT, () -> acknowledged.size() >= goal);
  }

  /** Starts no further creates, and waits for the answers of all others. */
  void stop() throws InterruptedException {
    stopped = true;
    threads.shutdown();
    if (!threads.awaitTermination(Await.LIMIT.toSeconds(), TimeUnit.SECONDS)) {
      throw new AssertionError("a plant is never answered: " + this);
    }
  }

  @Override
  public void close() {
    stopped = true;
    threads.shutdownNow();
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "%d acknowledged, %d refused, %d repeats, surprises: %s",
        acknowledged.size(),
        refused.size(),
        repeats.get(),
        surprises);
  }

  private void write() {
    while (!stopped) {
      // Every name is unique.
      NewPlant plant = new NewPlant(nextId(), "fern " + lastName.incrementAndGet(), null);
      while (!Thread.currentThread().isInterrupted() && !isAnswered(plant)) {
        repeats.incrementAndGet();
        LockSupport.parkNanos(REPEAT_PAUSE.toNanos());
      }
    }
  }

  private long nextId() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    return random.nextBoolean()
        ? lastId.incrementAndGet()
        : Math.max(0, lastId.get() - random.nextInt(CONTESTED_IDS));
  }

  private boolean isAnswered(NewPlant plant) {
    try {
      return note(plant, service.get().create(plant.id(), plant.name()));
    } catch (CompletionException e) {
      return false; // the service was killed
    }
  }

  private boolean note(NewPlant plant, HttpResponse<String> answer) {
    if (answer.statusCode() == 503) {
      return false;
    }
    if (answer.statusCode() == 200) {
      NewPlant other = acknowledged.putIfAbsent(plant.id(), plant);
      if (other != null && !other.equals(plant)) {
        surprises.add(plant + " was acknowledged after " + other);
      }
    } else if (answer.statusCode() == 400 && answer.body().startsWith("{\"error\":3001,")) {
      refused.add(plant);
    } else {
      surprises.add(plant + " was answered with " + answer.statusCode() + answer.body());
    }
    return true;
  }
}
