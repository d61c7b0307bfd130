package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.persistence.Calls.failure;
import static org.plantstore.adapter.persistence.Calls.fern;
import static org.plantstore.adapter.persistence.DatabaseServer.SERVER;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micronaut.context.ApplicationContext;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;

/** Faults of a real server and its table, and the metrics that show them. */
@Tag("newest")
class PostgresFaultsTest implements WithEmptyDatabase {

  @Test
  void connection_that_breaks_during_the_start_is_replaced() throws Exception {
    try (LyingServer server = new LyingServer(SERVER.port())) {
      server.cutAt = "TRANSACTION ISOLATION";
      SERVER.assertServes(Map.of("database.url", server.url()));
      assertNull(server.cutAt, "the connection was broken");
    }
  }

  @Test
  void settings_of_the_pool_change_neither_account_nor_commit() throws SQLException {
    Map<String, Object> ofThePool =
        Map.of("datasources.default.username", "nobody", "datasources.default.auto-commit", false);
    SERVER.assertServes(ofThePool);

    assertEquals("1", SERVER.single("SELECT count(*) FROM plant"));
  }

  /** Another program has written one row; the domain's rules were others for the other one. */
  @Test
  void row_that_is_no_plant_fails_only_the_plant_with_its_id() throws Exception {
    SERVER.migrate();
    SERVER.execute(
        "ALTER TABLE plant ALTER name DROP NOT NULL",
        "INSERT INTO plant VALUES (1, NULL), (2, '" + LyingServer.REFUSED + "')");
    try (LyingServer server = new LyingServer(SERVER.port());
        ApplicationContext instance = SERVER.connect(Map.of("database.url", server.url()))) {
      var calls = Calls.putAll(instance.getBean(PlantStore.class), LongStream.range(0, 50));

      for (int id = 0; id < 50; id++) {
        if (id == 1 || id == 2) {
          Throwable reason = assertInstanceOf(IllegalStateException.class, failure(calls.get(id)));
          String row = "the row with the id " + id + " in the table plant is no plant";
          assertEquals(row, reason.getMessage());
        } else {
          calls.get(id).get();
        }
      }
    }
  }

  /** Its text may contain a plant's. */
  @Test
  void warning_of_a_trigger_changes_nothing_and_is_not_logged() {
    try (ApplicationContext instance = SERVER.connect(Map.of())) {
      SERVER.execute(
          """
          CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN RAISE WARNING 'canary %', NEW.name; RETURN NEW; END$$;
          CREATE TRIGGER warn AFTER INSERT ON plant FOR EACH ROW EXECUTE FUNCTION warn();
          """);
      List<String> log =
          Calls.log(
              PlantTable.class.getName(),
              () -> assertEquals(fern(1), instance.getBean(PlantStore.class).putIfAbsent(fern(1))));

      assertEquals(List.of(), log);
    }
  }

  /** Of a table that was renamed, or a search_path that was emptied, while the service runs. */
  @Test
  void table_that_is_not_found_is_unavailable_until_it_is_found_again() {
    try (ApplicationContext instance = SERVER.connect(Map.of())) {
      PlantStore store = instance.getBean(PlantStore.class);
      store.putIfAbsent(fern(1));
      SERVER.execute("ALTER TABLE plant RENAME TO elsewhere");
      assertThrows(PlantStoreUnavailableException.class, () -> store.putIfAbsent(fern(2)));

      SERVER.execute("ALTER TABLE elsewhere RENAME TO plant");
      assertEquals(fern(2), store.putIfAbsent(fern(2)));
    }
  }

  /** Most other tests show that a store needs no registry. */
  @Test
  void batches_commits_and_their_failures_the_queue_and_the_pool_are_measured() {
    MeterRegistry registry = new SimpleMeterRegistry();
    try (ApplicationContext context = SERVER.connect(Map.of(), registry)) {
      PlantStore store = context.getBean(PlantStore.class);
      for (long id = 0; id < 3; id++) {
        store.putIfAbsent(fern(id));
      }

      Timer stored = registry.get("plant.store.commit").tag("outcome", "stored").timer();
      Timer failed = registry.get("plant.store.commit").tag("outcome", "failed").timer();
      assertEquals(3, stored.count());
      assertTrue(stored.totalTime(TimeUnit.NANOSECONDS) > 0);
      assertEquals(0, failed.count());
      assertEquals(3, registry.get("plant.store.batch.plants").summary().totalAmount());
      assertEquals(3, registry.get("plant.store.queue.wait").functionTimer().count());
      assertEquals(5, registry.get("hikaricp.connections.max").gauge().value());

      SERVER.execute("DROP TABLE plant");
      assertThrows(PlantStoreUnavailableException.class, () -> store.putIfAbsent(fern(3)));
      assertEquals(3, stored.count());
      assertTrue(failed.count() > 0);
    }
  }
}
