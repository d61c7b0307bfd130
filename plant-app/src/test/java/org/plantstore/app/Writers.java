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
 * Clients that create plants until they are stopped. Half of the plants have contended ids. A
 * create request is retried if it receives no response or 503. All other responses are recorded.
 * This class is thread-safe.
 */
final class Writers implements AutoCloseable {

  private final Supplier<URI> service;
  private final String token;
  private final ExecutorService threads;
  private final AtomicLong lastId = new AtomicLong();
  private final AtomicLong lastName = new AtomicLong();
  private final AtomicLong retries = new AtomicLong();
  private volatile boolean stopped;

  final Map<Long, NewPlant> acknowledged = new ConcurrentHashMap<>();

  /** The plants that were refused because their id is taken. */
  final Set<NewPlant> refused = ConcurrentHashMap.newKeySet();

  /** Responses that contradict other responses or are not allowed for a create request. */
  private final Set<String> violations = ConcurrentHashMap.newKeySet();

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

  void awaitProgress(int responses) {
    int goal = acknowledged.size() + refused.size() + responses;
    Await.until(() -> assertTrue(acknowledged.size() + refused.size() >= goal, this::toString));
  }

  /** Waits for the responses to all create requests. No response may contradict another. */
  void stop() throws InterruptedException {
    stopped = true;
    threads.shutdown();
    assertTrue(
        threads.awaitTermination(Await.LIMIT.toSeconds(), TimeUnit.SECONDS),
        "some creates are unanswered");
    assertTrue(violations.isEmpty(), this::toString);
  }

  /** Waits for the responses to all create requests. No request may have been retried. */
  void stopWithoutRetries() throws InterruptedException {
    stop();
    assertEquals(0, retries.get(), this::toString);
  }

  @Override
  public void close() {
    stopped = true;
    threads.shutdownNow();
  }

  @Override
  public String toString() {
    String summary = acknowledged.size() + " acknowledged, " + refused.size() + " refused, ";
    return summary + retries + " retries, violations: " + violations;
  }

  private void write() {
    while (!stopped) {
      // Every name is unique.
      NewPlant plant = new NewPlant(nextId(), "fern " + lastName.incrementAndGet(), null);
      while (!Thread.currentThread().isInterrupted() && !isFinished(plant)) {
        retries.incrementAndGet();
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

  private boolean isFinished(NewPlant plant) {
    String json = ServiceProcess.json(plant.id(), plant.name());
    HttpResponse<String> response;
    try {
      response = ServiceProcess.send(ServiceProcess.createRequest(service.get(), token, json));
    } catch (CompletionException e) {
      return false; // the service was killed, so the create is retried
    }
    if (response.statusCode() == 200) {
      NewPlant other = acknowledged.putIfAbsent(plant.id(), plant);
      if (other != null) {
        violations.add(plant + " was acknowledged after " + other);
      }
    } else if (response.statusCode() == 400 && response.body().startsWith("{\"error\":3001,")) {
      refused.add(plant);
    } else if (response.statusCode() != 503) {
      violations.add(plant + " was answered with " + response.statusCode() + response.body());
    }
    return response.statusCode() != 503;
  }
}
