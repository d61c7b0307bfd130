package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.LoggerContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;

/**
 * Makes the AOT cache of the packaged service by a training run: {@code mvn -Paot}. The start
 * script starts the run as it starts the service, because a cache fits the options it was made
 * with.
 */
public final class AotTraining {

  private AotTraining() {}

  public static void main(String... folders) throws IOException {
    Path folder = Path.of(folders[0]);
    Path cache = folder.resolve("plant-app.aot");
    Files.deleteIfExists(cache);
    // At level 3 all code keeps its profile counters, which the cache passes on to the compiler.
    // Only the file name: the script splits options at spaces.
    String options = "-XX:TieredStopAtLevel=3 -XX:AOTCacheOutput=" + cache.getFileName();
    Map<String, String> java =
        Map.of("JAVA_HOME", System.getProperty("java.home"), "JAVA_OPTS", options);
    ProcessBuilder command = new ProcessBuilder(folder.resolve("plant-store").toString());
    try (DatabaseServer server = new DatabaseServer();
        ServiceProcess service =
            new ServiceProcess(
                command.directory(folder.toFile()), server.database().environment(java))) {
      service.awaitReady();
      LongStream.range(0, 4).parallel().forEach(client -> sendRequests(service, client * 1_000));
      service.terminate();
      Await.until(() -> "the cache is made", Duration.ofMinutes(5), () -> !service.isAlive());
      assertTrue(Files.exists(cache), () -> service.errors() + service.output());
    }
    // Now: at the end of the build that has started this, its classes are gone.
    ((LoggerContext) LoggerFactory.getILoggerFactory()).stop();
  }

  /** The requests of one client: mostly new plants, and some of every other kind. */
  private static void sendRequests(ServiceProcess service, long firstId) {
    for (long id = firstId; id < firstId + 1_000; id++) {
      assertEquals(200, service.create(plant(id, "fern")).statusCode());
      if (id % 20 == 0) {
        String token = "Bearer " + ServiceProcess.token();
        Stream.of(plant(id, "fern"), plant(id, "moss"), "{\"id\":\"1\",\"name\":", "{}")
            .forEach(service::create);
        service.create(plant(id, "fern"), Map.of("Authorization", "Bearer a.b.c"));
        service.get("/nothing", Map.of("Authorization", token));
        service.get("/", Map.of());
        service.get("/openapi.yaml", Map.of());
      }
    }
  }

  private static String plant(long id, String name) {
    String tag = id % 2 == 0 ? "" : ",\"tag\":\"shade, \u00bd m\"";
    return "{\"id\":" + id + ",\"name\":\"" + name + "\"" + tag + "}";
  }
}
