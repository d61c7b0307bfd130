package org.plantstore.app;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.micronaut.context.ApplicationContext;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
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
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.plantstore.client.PlantClient;
import org.plantstore.client.UnexpectedResponseException;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.contract.CreatePlantContract;

/** The same call has the same outcome in the process of the service, and anywhere else. */
@Tag("slow")
@Timeout(600)
@Execution(ExecutionMode.CONCURRENT) // beside other tests; its own share a table
class CreatePlantContractTest {

  private static Database database;
  @AutoClose private static ServiceProcess service;
  @AutoClose private static LossyNetwork network;

  @BeforeAll
  static void start() throws Exception {
    database = Database.create();
    Map<String, String> large = Map.of("MAX_BODY_BYTES", "8388608");
    service = new ServiceProcess(database.environment(large)).awaitReady();
    network = new LossyNetwork(service.port);
  }

  private static CreatePlant emptied(CreatePlant createPlant) {
    assertDoesNotThrow(() -> database.execute("TRUNCATE plant"));
    return createPlant;
  }

  private static PlantClient.Builder client(URI address) {
    return PlantClient.builder(address, ServiceClient::token);
  }

  @Nested
  @Execution(ExecutionMode.SAME_THREAD)
  class ThroughLossyNetwork extends CreatePlantContract {

    private final PlantClient client = client(network.address()).build();

    @Override
    protected CreatePlant createPlant() {
      return emptied(client);
    }

    @Override
    protected CreatePlant unavailable() {
      URI closedPort = URI.create("http://localhost:" + ServiceClient.freePort());
      return client(closedPort).deadline(Duration.ofSeconds(1)).build();
    }
  }

  @Nested
  @Execution(ExecutionMode.SAME_THREAD)
  class InOneProcess extends CreatePlantContract {

    @AutoClose private static ApplicationContext context;
    @AutoClose private static ApplicationContext unavailable;

    @BeforeAll
    static void startContexts() throws IOException {
      context = StartTest.contextOf(database.environment());
      try (NetworkProxy databaseNetwork = new NetworkProxy(database.port())) {
        Map<String, String> settings = Map.of("DATABASE_TIMEOUT_SECONDS", "1");
        Map<String, String> through = database.through(databaseNetwork).environment(settings);
        unavailable = StartTest.contextOf(through);
      }
    }

    @Override
    protected CreatePlant createPlant() {
      return emptied(context.getBean(CreatePlant.class));
    }

    @Override
    protected CreatePlant unavailable() {
      return unavailable.getBean(CreatePlant.class);
    }
  }

  @Test
  @Execution(ExecutionMode.SAME_THREAD)
  void twenty_thousand_creates_through_a_lossy_network_are_acknowledged_and_stored()
      throws Exception {
    int creates = 20_000;
    CreatePlant createPlant = emptied(client(network.address()).build());
    ExecutorService callers = Executors.newFixedThreadPool(64);
    Map<Long, NewPlant> plants = new HashMap<>();
    List<CompletableFuture<Plant>> calls = new ArrayList<>();
    for (long id = 0; id < creates; id++) {
      NewPlant plant = new NewPlant(id, "plant " + id, null);
      plants.put(id, plant);
      calls.add(CompletableFuture.supplyAsync(() -> createPlant.create(plant), callers));
    }
    for (int id = 0; id < creates; id++) {
      assertEquals("plant " + id, calls.get(id).join().name());
    }
    callers.shutdown();
    assertEquals(plants, database.plants());
  }

  @Test
  @Execution(ExecutionMode.SAME_THREAD)
  void certificate_has_to_be_trusted() throws Exception {
    TestCertificate certificate = TestCertificate.issue();
    NewPlant fern = new NewPlant(1, "fern", null);
    emptied(NewPlant::plant);
    try (ServiceProcess encrypted =
        new ServiceProcess(database.environment(certificate.settings())).awaitReady()) {
      PlantClient.Builder client = client(URI.create("https://localhost:" + encrypted.port));
      UnexpectedResponseException untrusted =
          assertThrows(UnexpectedResponseException.class, () -> client.build().create(fern));
      assertEquals(0, untrusted.status());
      HttpClient trusting = HttpClient.newBuilder().sslContext(certificate.trust()).build();
      assertEquals(fern.plant(), client.httpClient(trusting).build().create(fern));
    }
  }

  /** Loses, duplicates, delays or cuts one in ten of the small responses of a service. */
  private static final class LossyNetwork extends NetworkProxy {

    private static final int MAX_BYTES = 1_000;

    private final AtomicInteger responses = new AtomicInteger();

    LossyNetwork(int target) {
      super(InetAddress.getLoopbackAddress(), 0, target, 256);
    }

    URI address() {
      return URI.create("http://localhost:" + port());
    }

    @Override
    void passOn(byte[] part, OutputStream to) throws IOException {
      boolean isResponse =
          part.length < MAX_BYTES && new String(part, ISO_8859_1).matches("(?s)HTTP/1.1 .*}");
      int number = isResponse ? responses.incrementAndGet() : 1;
      ThreadLocalRandom random = ThreadLocalRandom.current();
      if (number % 4_000 == 0) {
        return; // lost, and the connection stays open
      }
      switch (number % 40) {
        case 0 -> throw new IOException("lost");
        case 10 -> to.write(part); // and again below
        case 20 -> LockSupport.parkNanos(random.nextLong(100_000_000));
        case 30 -> {
          to.write(part, 0, random.nextInt(part.length));
          throw new IOException("cut");
        }
        default -> {}
      }
      to.write(part);
    }
  }
}
