package org.plantstore.app;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.plantstore.app.PlantGenerator.Generated;

/**
 * From bytes over HTTP to the database and back: whatever plant in whatever spelling is stored as
 * it is, and what is no plant is stored in no way. {@code -Dgenerated.seed=…} repeats a run, {@code
 * -Dgenerated.plants=…} makes a longer one.
 */
class GeneratedPlantsTest {

  private static final int AT_ONCE = 32;

  private final long seed = Long.getLong("generated.seed", System.nanoTime());
  private final int plants = Integer.getInteger("generated.plants", 2_000);
  private final Random random = new Random(seed);
  private final PlantGenerator generator = new PlantGenerator(random);
  private final JsonSpelling spelling = new JsonSpelling(random, generator);
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /** A body, and the plant that it means, or almost means. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Sent(boolean valid, Generated plant, byte[] body) {}

  @Test
  void plants_are_stored_exactly_and_what_is_no_plant_is_not() throws Exception {
    System.out.println("-Dgenerated.seed=" + seed);
    Map<Long, Generated> expected = new HashMap<>();
    try (EmbeddedPostgres database = EmbeddedDatabase.start();
        ServiceProcess service =
            new ServiceProcess(EmbeddedDatabase.environment(database)).awaitReady()) {
      Set<Long> ids = new HashSet<>();
      List<Sent> batch = new ArrayList<>();
      for (int count = 0; count < plants; count++) {
        Generated plant = generator.plant();
        if (ids.add(plant.id())) {
          boolean valid = random.nextBoolean();
          batch.add(
              new Sent(valid, plant, valid ? spelling.valid(plant) : spelling.invalid(plant)));
          if (valid) {
            expected.put(plant.id(), plant);
          }
        }
        if (batch.size() == AT_ONCE || count == plants - 1) {
          send(service, batch);
          batch.clear();
        }
      }
      requireStored(expected, database);
    }
  }

  private void send(ServiceProcess service, List<Sent> batch) throws Exception {
    String token = ServiceProcess.token();
    List<CompletableFuture<HttpResponse<byte[]>>> answers =
        batch.stream()
            .map(sent ->
                ServiceProcess.createRequest(service.address(), token)
                    .timeout(Duration.ofMinutes(1))
                    .POST(HttpRequest.BodyPublishers.ofByteArray(sent.body()))
                    .build())
            .map(request -> client.sendAsync(request, BodyHandlers.ofByteArray()))
            .toList();
    for (int index = 0; index < batch.size(); index++) {
      requireAnswered(batch.get(index), answers.get(index).get(1, TimeUnit.MINUTES));
    }
  }

  private void requireAnswered(Sent sent, HttpResponse<byte[]> response) throws IOException {
    String explanation =
        "-Dgenerated.seed="
            + seed
            + " id "
            + sent.plant().id()
            + " in Latin-1: "
            + new String(sent.body(), ISO_8859_1)
            + " was answered with "
            + new String(response.body(), UTF_8);
    assertEquals(sent.valid() ? 200 : 400, response.statusCode(), explanation);
    JsonNode answer = new ObjectMapper().readTree(response.body());
    if (sent.valid()) {
      assertEquals(sent.plant().name(), answer.path("name").textValue(), explanation);
      assertEquals(sent.plant().tag(), answer.path("tag").textValue(), explanation);
      assertEquals(sent.plant().tag() == null ? 1 : 2, answer.size(), explanation);
    } else {
      int number = answer.path("error").intValue();
      assertTrue(number >= 1001 && number <= 2003, explanation);
    }
  }

  private void requireStored(Map<Long, Generated> expected, EmbeddedPostgres database)
      throws SQLException {
    try (Connection connection = database.getPostgresDatabase().getConnection();
        ResultSet rows =
            connection.createStatement().executeQuery("SELECT id, name, tag FROM plant")) {
      Map<Long, Generated> missing = new HashMap<>(expected);
      while (rows.next()) {
        Generated stored = new Generated(rows.getLong(1), rows.getString(2), rows.getString(3));
        assertEquals(missing.remove(stored.id()), stored, "-Dgenerated.seed=" + seed);
      }
      assertEquals(Map.of(), missing, "-Dgenerated.seed=" + seed);
    }
  }
}
