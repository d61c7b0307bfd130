package org.plantstore.adapter.persistence;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.persistence.DatabaseServer.SERVER;

import io.micronaut.context.ApplicationContext;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.plantstore.adapter.persistence.batch.GroupCommit;
import org.plantstore.adapter.persistence.citus.ShardedQueue;
import org.plantstore.domain.PlantStore;

/** What the door to distributed tables lets through. */
@Tag("newest") // a verifier may load more classes
class PlantQueuesTest implements WithEmptyDatabase {

  /** Creates a plant in a process of its own. */
  static final class Create {

    public static void main(String[] arguments) {
      try (ApplicationContext instance = ApplicationContext.run()) {
        instance.getBean(PlantStore.class).putIfAbsent(Calls.fern(1));
      }
    }
  }

  @Test
  void process_whose_database_has_no_citus_loads_none_of_its_classes() throws Exception {
    ProcessBuilder java =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xlog:class+load",
                "-cp",
                System.getProperty("java.class.path"),
                Create.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    java.environment()
        .putAll(
            Map.of(
                "DATABASE_URL", SERVER.url("postgres"),
                "DATABASE_USERNAME", "postgres",
                "DATABASE_PASSWORD", "any"));
    Process process = java.start();
    String loaded = new String(process.getInputStream().readAllBytes(), UTF_8);

    assertEquals(0, process.waitFor());
    assertEquals("1", SERVER.single("SELECT count(*) FROM plant"));
    assertTrue(loaded.contains(GroupCommit.class.getName()));
    String citus = ShardedQueue.class.getPackageName();
    assertEquals(List.of(), loaded.lines().filter(line -> line.contains(citus)).toList());
  }
}
