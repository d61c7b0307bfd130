package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kills the database, the service and both, as power cuts and {@code kill -9} do, under 64 writers
 * that repeat what was not answered: nothing that was answered may be lost or contradicted. When,
 * whom and in which order depends on a seed, which is printed; {@code -Dchaos.seed} repeats one,
 * and {@code -Dchaos.rounds} makes it longer.
 */
@Timeout(3_600)
@Tag("slow")
class ChaosTest {

  private static final int WRITERS = 64;

  /** So many plants must be acknowledged between two kills. */
  private static final int PROGRESS = 4 * WRITERS;

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int LONGEST_PAUSE_MILLIS = 1_000;

  private enum Victim {
    DATABASE,
    SERVICE,
    BOTH
  }

  @TempDir Path data;

  private EmbeddedPostgres database;
  private volatile ServiceProcess service;

  private final long seed = Long.getLong("chaos.seed", System.nanoTime());
  private final int rounds = Integer.getInteger("chaos.rounds", 6);
  private final Random random = new Random(seed);

  @BeforeEach
  void start() throws IOException, SQLException {
    System.out.println("Chaos with -Dchaos.seed=" + seed + " -Dchaos.rounds=" + rounds);
    database = EmbeddedDatabase.start(data, 0);
    // The service has to ask for what it promises.
    EmbeddedDatabase.execute(database, "ALTER ROLE postgres SET synchronous_commit = off");
    service = startService().awaitReady();
  }

  @AfterEach
  void stop() throws IOException {
    service.close();
    database.close();
  }

  @Test
  void nothing_acknowledged_is_lost_or_contradicted_whoever_is_killed() throws Exception {
    try (ChaosWriters writers = new ChaosWriters(WRITERS, () -> service.address())) {
      for (Victim victim : victims()) {
        writers.awaitProgress(PROGRESS, LIMIT);
        pause();
        kill(victim);
      }
      writers.awaitProgress(PROGRESS, LIMIT);
      writers.stop();

      System.out.println("Chaos: " + writers);
      assertTrue(writers.surprises().isEmpty(), writers::toString);
      Map<Long, String> stored = stored();
      writers
          .acknowledged()
          .forEach((id, name) -> assertEquals(name, stored.get(id), "plant " + id));
      for (ChaosWriters.Attempt refused : writers.refused()) {
        String winner = stored.get(refused.id());
        assertTrue(winner != null && !winner.equals(refused.name()), refused::toString);
      }
    }
  }

  /** Each of them equally often, in any order. */
  private List<Victim> victims() {
    List<Victim> victims = new ArrayList<>();
    for (int round = 0; round < rounds; round++) {
      victims.add(Victim.values()[round % Victim.values().length]);
    }
    Collections.shuffle(victims, random);
    return victims;
  }

  private void kill(Victim victim) throws IOException {
    switch (victim) {
      case DATABASE -> {
        EmbeddedDatabase.kill(database, data);
        pause();
        restartDatabase();
      }
      case SERVICE -> {
        service.kill();
        service = startService().awaitReady();
      }
      case BOTH -> killBoth();
    }
  }

  private void killBoth() throws IOException {
    if (random.nextBoolean()) {
      EmbeddedDatabase.kill(database, data);
      service.kill();
    } else {
      service.kill();
      EmbeddedDatabase.kill(database, data);
    }
    if (random.nextBoolean()) {
      // The service finds no database yet, and waits for it.
      service = startService();
      pause();
      restartDatabase();
    } else {
      restartDatabase();
      service = startService();
    }
    service.awaitReady();
  }

  private void restartDatabase() throws IOException {
    database = EmbeddedDatabase.restart(data, database.getPort());
  }

  private ServiceProcess startService() {
    return new ServiceProcess(EmbeddedDatabase.environment(database));
  }

  private void pause() {
    LockSupport.parkNanos(Duration.ofMillis(random.nextInt(LONGEST_PAUSE_MILLIS)).toNanos());
  }

  private Map<Long, String> stored() throws SQLException {
    Map<Long, String> stored = new HashMap<>();
    try (Connection connection = database.getPostgresDatabase().getConnection();
        ResultSet rows = connection.createStatement().executeQuery("SELECT id, name FROM plant")) {
      while (rows.next()) {
        assertNull(stored.put(rows.getLong(1), rows.getString(2)), "a plant is stored twice");
      }
    }
    return stored;
  }
}
