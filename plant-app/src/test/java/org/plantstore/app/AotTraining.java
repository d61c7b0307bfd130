package org.plantstore.app;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;

/**
 * Makes the AOT cache of the packaged service by a training run: {@code mvn -Paot}. The start
 * script starts the run as it starts the service, because a cache fits the options it was made
 * with.
 */
public final class AotTraining {

  private static final int CLIENTS = 4;
  private static final long IDS_OF_A_CLIENT = 1_000_000;
  private static final Duration CACHE_TIMEOUT = Duration.ofMinutes(5);

  private final PackagedService service;
  private final Map<String, String> environment;

  private AotTraining(PackagedService service, Map<String, String> environment) {
    this.service = service;
    this.environment = environment;
  }

  /**
   * Makes the cache, and shows that a start uses it.
   *
   * @param arguments the folder of the packaged service
   */
  public static void main(String... arguments) throws IOException {
    PackagedService service = new PackagedService(Path.of(arguments[0]));
    Files.deleteIfExists(service.aotCache());
    try (EmbeddedPostgres database = EmbeddedDatabase.start()) {
      AotTraining training = new AotTraining(service, EmbeddedDatabase.environment(database));
      training.record();
      // Java refuses to start if it cannot use the cache.
      Duration with = training.start(Map.of("JAVA_OPTS", "-XX:AOTMode=on"));
      Duration without = training.start(Map.of("PLANT_STORE_AOT", "off"));
      System.out.printf(
          "%s has %d MB. With it a start takes %d ms to the first plant, without it %d ms.%n",
          service.aotCache(),
          Files.size(service.aotCache()) / 1_000_000,
          with.toMillis(),
          without.toMillis());
    }
  }

  private void record() {
    // At level 3 all code goes on counting what it does, and the cache keeps that for the compiler.
    // By its name alone: the script takes spaces in a path for ends of options.
    String options =
        "-XX:TieredStopAtLevel=3 -XX:AOTCacheOutput=" + service.aotCache().getFileName();
    try (ServiceProcess process = service.start(with(Map.of("JAVA_OPTS", options)))) {
      sendRequests(process.awaitReady().address());
      process.stop(CACHE_TIMEOUT);
      if (!Files.exists(service.aotCache())) {
        throw new IllegalStateException(
            "no cache was made: " + process.errors() + process.output());
      }
    }
  }

  private static void sendRequests(URI service) {
    ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
    try {
      CompletableFuture.allOf(
              IntStream.range(0, CLIENTS)
                  .mapToObj(client -> new TrainingRequests(service, client * IDS_OF_A_CLIENT))
                  .map(requests -> CompletableFuture.runAsync(requests::send, clients))
                  .toArray(CompletableFuture<?>[]::new))
          .join();
    } finally {
      clients.shutdown();
    }
  }

  /** Answers how long a start takes until a plant is created. */
  private Duration start(Map<String, String> options) {
    long start = System.nanoTime();
    try (ServiceProcess process = service.start(with(options))) {
      new TrainingRequests(process.address(), 0).awaitFirstPlant(process);
      Duration duration = Duration.ofNanos(System.nanoTime() - start);
      process.stop();
      return duration;
    }
  }

  private Map<String, String> with(Map<String, String> options) {
    Map<String, String> all = new HashMap<>(environment);
    all.putAll(options);
    return all;
  }
}
