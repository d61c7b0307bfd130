package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
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
final class Writers implements AutoCloseable {

  private final Supplier<URI> service;
  private final String token;
  private final ExecutorService threads;
  private final AtomicLong lastId = new AtomicLong();
  private final AtomicLong lastName = new AtomicLong();
  private final AtomicLong repeats = new AtomicLong();
  private volatile boolean stopped;

  final Map<Long, NewPlant> acknowledged = new ConcurrentHashMap<>();

  /** The plants that were refused because their id is taken. */
  final Set<NewPlant> refused = ConcurrentHashMap.newKeySet();

  /** Answers that contradict others, or are not allowed for a create. */
  private final Set<String> surprises = ConcurrentHashMap.newKeySet();

  Writers(int number, Supplier<URI> service) {
    this(number, service, ServiceProcess.token());
  }

  Writers(int number, Supplier<URI> service, String token) {
    this.service = service;
    this.token = token;
    this.threads = Executors.newFixedThreadPool(number);
    for (int writer = 0; writer < number; writer++) {
      threads.execute(this::write);
    }
  }

  void awaitProgress(int answers) {
    int goal = acknowledged.size() + refused.size() + answers;
    Await.until(() -> assertTrue(acknowledged.size() + refused.size() >= goal, this::toString));
  }

  /** Waits for the answers of all creates, of which none may contradict another. */
  void stop() throws InterruptedException {
    stopped = true;
    threads.shutdown();
    assertTrue(threads.awaitTermination(Await.LIMIT.toSeconds(), TimeUnit.SECONDS), "all answered");
    assertTrue(surprises.isEmpty(), this::toString);
  }

  /** As above, and no create may have failed. */
  void stopWithoutRepeats() throws InterruptedException {
    stop();
    assertEquals(0, repeats.get(), this::toString);
  }

  @Override
  public void close() {
    stopped = true;
    threads.shutdownNow();
  }

  @Override
  public String toString() {
    String answers = acknowledged.size() + " acknowledged, " + refused.size() + " refused, ";
    return answers + repeats + " repeats, surprises: " + surprises;
  }

  private void write() {
    while (!stopped) {
      // Every name is unique.
      NewPlant plant = new NewPlant(nextId(), "fern " + lastName.incrementAndGet(), null);
      while (!Thread.currentThread().isInterrupted() && !isAnswered(plant)) {
        repeats.incrementAndGet();
        LockSupport.parkNanos(100_000_000);
      }
    }
  }

  private long nextId() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    return random.nextBoolean()
        ? lastId.incrementAndGet()
        : Math.max(0, lastId.get() - random.nextInt(200));
  }

  private boolean isAnswered(NewPlant plant) {
    String json = ServiceProcess.json(plant.id(), plant.name());
    HttpResponse<String> answer;
    try {
      answer = ServiceProcess.send(ServiceProcess.createRequest(service.get(), token, json));
    } catch (CompletionException e) {
      return false; // the service was killed
    }
    if (answer.statusCode() == 200) {
      NewPlant other = acknowledged.putIfAbsent(plant.id(), plant);
      if (other != null) {
        surprises.add(plant + " was acknowledged after " + other);
      }
    } else if (answer.statusCode() == 400 && answer.body().startsWith("{\"error\":3001,")) {
      refused.add(plant);
    } else if (answer.statusCode() != 503) {
      surprises.add(plant + " was answered with " + answer.statusCode() + answer.body());
    }
    return answer.statusCode() != 503;
  }
}
