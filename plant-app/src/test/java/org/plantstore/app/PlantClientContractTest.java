package org.plantstore.app;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.plantstore.client.PlantClient;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.contract.CreatePlantContract;

/**
 * Tests that the client fulfills the contract of {@code CreatePlant} even if the network loses
 * responses.
 */
@Tag("slow")
class PlantClientContractTest extends CreatePlantContract {

  private static final int CREATES = 2_000;

  /** Twice the client's limit, because a connection may close slightly later than its request. */
  private static final int MAX_CONNECTIONS = 512;

  private static Database database;
  @AutoClose private static ServiceProcess service;
  @AutoClose private static LossyNetwork network;

  @BeforeAll
  static void start() throws Exception {
    database = Database.create();
    service = new ServiceProcess(database.environment("MAX_BODY_BYTES", "8388608")).awaitReady();
    network = new LossyNetwork(service.port);
  }

  @Override
  protected CreatePlant createPlant() {
    assertDoesNotThrow(() -> database.execute("TRUNCATE plant"));
    return client("http://localhost:" + network.port()).build();
  }

  @Override
  protected CreatePlant unavailable() {
    return client("http://localhost:1").deadline(Duration.ofSeconds(1)).build();
  }

  private static PlantClient.Builder client(String address) {
    return PlantClient.builder(URI.create(address), ServiceProcess::token);
  }

  /** Without the client's limit, each caller would open its own connection. */
  @Test
  void concurrent_creates_share_limited_connections_and_are_all_stored() throws Exception {
    database.execute("TRUNCATE plant");
    String address = "http://localhost:" + network.port();
    CreatePlant createPlant = client(address).deadline(Duration.ofMinutes(1)).build();
    ExecutorService callers = callers();
    Map<Long, NewPlant> plants = new HashMap<>();
    List<CompletableFuture<Plant>> calls = new ArrayList<>();
    for (long id = 0; id < CREATES; id++) {
      NewPlant plant = new NewPlant(id, "plant " + id, null);
      plants.put(id, plant);
      calls.add(createPlant.createAsync(plant, callers).toCompletableFuture());
    }
    for (int id = 0; id < CREATES; id++) {
      assertEquals("plant " + id, calls.get(id).join().name());
    }
    callers.shutdown();
    assertEquals(plants, database.plants());
    assertTrue(network.maxConnections.get() <= MAX_CONNECTIONS, network.maxConnections::toString);
  }

  /** Returns an executor with virtual threads, or with platform threads before Java 21. */
  private static ExecutorService callers() throws ReflectiveOperationException {
    try {
      Object threads = Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
      return (ExecutorService) threads;
    } catch (NoSuchMethodException e) {
      return Executors.newFixedThreadPool(2 * MAX_CONNECTIONS);
    }
  }

  /** Loses, duplicates, delays, or truncates one in ten of a service's small responses. */
  private static final class LossyNetwork extends NetworkProxy {

    private static final int MAX_BYTES = 1_000;

    private final AtomicInteger responses = new AtomicInteger();

    /** The largest number of connections that were open at once. */
    final AtomicInteger maxConnections = new AtomicInteger();

    LossyNetwork(int target) {
      super(InetAddress.getLoopbackAddress(), 0, target, 256);
    }

    @Override
    void forwardPart(byte[] part, OutputStream to) throws IOException {
      maxConnections.accumulateAndGet(connections(), Math::max);
      boolean isResponse =
          part.length < MAX_BYTES && new String(part, ISO_8859_1).matches("(?s)HTTP/1.1 .*}");
      int number = isResponse ? responses.incrementAndGet() : 1;
      ThreadLocalRandom random = ThreadLocalRandom.current();
      if (number % 2_000 == 0) {
        return; // the response is lost, but the connection stays open
      }
      switch (number % 40) {
        case 0 -> throw new IOException("lost");
        case 10 -> to.write(part); // written again below
        case 20 -> LockSupport.parkNanos(random.nextLong(100_000_000));
        case 30 -> {
          to.write(part, 0, random.nextInt(part.length));
          throw new IOException("truncated");
        }
        default -> {}
      }
      to.write(part);
    }
  }
}
