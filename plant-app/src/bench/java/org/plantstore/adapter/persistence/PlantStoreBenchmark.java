package org.plantstore.adapter.persistence;

import io.micronaut.context.ApplicationContext;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;
import org.plantstore.bench.Database;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;

/**
 * How many plants the store keeps per second on a durable PostgreSQL, called by 1, 16 and 64
 * threads; next to one insert per call.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 5)
@Measurement(iterations = 5, time = 5)
@SuppressWarnings("NullAway.Init") // JMH calls start() first
public class PlantStoreBenchmark {

  /** Which store is called: the one of the service, or the one that it is measured against. */
  @Param({"service", "oneInsert"})
  public String store = "service";

  private Database database;
  private ApplicationContext context;
  private PlantStore plants;

  /** Starts the server, and connects the store to it. */
  @Setup
  public void start() throws IOException {
    database = Database.start(Path.of("target"));
    Map<String, Object> settings = new HashMap<>();
    settings.put("database.url", database.url());
    settings.put("database.username", Database.USERNAME);
    settings.put("database.password", "any");
    settings.put("jwt.secret", "never used here, as there are no requests");
    settings.put(OneInsertPlantStore.PROPERTY, store.equals("oneInsert"));
    context =
        ApplicationContext.builder()
            .properties(settings)
            // The HTTP adapter is on the class path too, and asks for a use case.
            .singletons((CreatePlant) NewPlant::plant)
            .start();
    plants = context.getBean(PlantStore.class);
  }

  /** Stops both. */
  @TearDown
  public void stop() throws IOException {
    context.close();
    database.close();
  }

  /** Stores a plant for the only caller that there is. */
  @Benchmark
  @Threads(1)
  public NewPlant caller1() {
    return put();
  }

  /** Stores a plant for one of some callers. */
  @Benchmark
  @Threads(16)
  public NewPlant callers16() {
    return put();
  }

  /** Stores a plant for one of many callers. */
  @Benchmark
  @Threads(64)
  public NewPlant callers64() {
    return put();
  }

  private NewPlant put() {
    return plants.putIfAbsent(
        new NewPlant(ThreadLocalRandom.current().nextLong(), "Monstera deliciosa", "tropical"));
  }
}
