package org.plantstore.bench;

import java.io.IOException;
import java.net.URI;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.plantstore.client.PlantClient;
import org.plantstore.domain.NewPlant;

/**
 * Creates over HTTP by this process through {@link PlantClient}, in its asynchronous form.
 *
 * @param name names this subject in the log of the run
 * @param variant the service that is called
 * @param callers the number of calls at a time
 */
record ThroughClient(String name, Variant variant, int callers) implements Subject {

  private static final Executor THREADS = task -> new Thread(task).start();

  @Override
  public Map<Metric, Double> measure(Testbed testbed, int seconds)
      throws IOException, InterruptedException, SQLException {
    Service service = testbed.service(variant);
    Database database = testbed.database(variant);
    database.prepare(Table.EMPTY);
    long plantsBefore = database.plants();
    double cpuBefore = service.cpuMillis();
    String token = testbed.token(Algorithm.HS256);
    URI address = URI.create(service.address()).resolve("/");
    PlantClient client = PlantClient.builder(address, () -> token).build();
    LongAdder created = new LongAdder();
    long end = System.nanoTime() + Duration.ofSeconds(seconds).toNanos();
    List<CompletableFuture<Void>> running =
        Stream.generate(
                () -> CompletableFuture.runAsync(() -> createUntil(end, client, created), THREADS))
            .limit(callers)
            .toList();
    running.forEach(CompletableFuture::join);
    double cpuMillis = service.cpuMillis() - cpuBefore;
    database.awaitQuiet();
    double creates = created.sum();
    if (database.plants() - plantsBefore != creates) {
      throw new BenchmarkException(creates + " creates, but other plants: " + database.plants());
    }
    return Map.of(Metric.CREATES, creates / seconds, Metric.CPU, cpuMillis * 1_000 / creates);
  }

  private static void createUntil(long end, PlantClient client, LongAdder created) {
    while (System.nanoTime() < end) {
      client.create(new NewPlant(ThreadLocalRandom.current().nextLong(), "fern", "shade"));
      created.increment();
    }
  }
}
