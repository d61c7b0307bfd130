package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.plantstore.domain.NewPlant;
import org.plantstore.fixture.DatabaseServer;

/**
 * Kills the database, the service, or both, as a power failure or {@code kill -9} would, while 64
 * writers create plants and retry unanswered requests. No response may contradict an earlier
 * response. {@code -Dchaos.rounds} makes a run longer.
 */
@Timeout(3_600)
@Tag("slow")
@Isolated
class ChaosTest {

  private static final int WRITERS = 64;
  private static final int PROGRESS = 4 * WRITERS;

  private enum Victim {
    DATABASE,
    SERVICE,
    BOTH
  }

  @TempDir Path data;

  @AutoClose private DatabaseServer server;
  @AutoClose private volatile ServiceProcess service;

  private final int rounds = Integer.getInteger("chaos.rounds", 3);
  private final Random random = new Random();

  @BeforeEach
  void start() throws SQLException {
    server = new DatabaseServer(data);
    // The service itself must turn synchronous_commit on.
    Database.of(server).execute("ALTER ROLE postgres SET synchronous_commit = off");
    service = startService().awaitReady();
  }

  @Test
  void no_acknowledged_plant_is_lost_or_changed_when_a_process_is_killed() throws Throwable {
    List<Victim> victims = new ArrayList<>();
    while (victims.size() < rounds) {
      Collections.addAll(victims, Victim.values());
    }
    Collections.shuffle(victims, random);
    try (Writers writers = new Writers(WRITERS, () -> service.address())) {
      for (Victim victim : victims) {
        writers.awaitProgress(PROGRESS);
        pause();
        kill(victim);
      }
      writers.awaitProgress(PROGRESS);
      writers.stop();

      Map<Long, NewPlant> stored = Database.of(server).plants();
      writers.acknowledged.forEach((id, plant) -> assertEquals(plant, stored.get(id)));
      for (NewPlant refused : writers.refused) {
        NewPlant winner = stored.get(refused.id());
        assertTrue(winner != null && !winner.equals(refused), refused::toString);
      }
    }
  }

  private void kill(Victim victim) throws Throwable {
    List<Executable> kills = new ArrayList<>();
    if (victim != Victim.DATABASE) {
      kills.add(service::close);
    }
    if (victim != Victim.SERVICE) {
      kills.add(server::kill);
    }
    Collections.shuffle(kills, random);
    for (Executable kill : kills) {
      kill.execute();
    }
    if (victim == Victim.BOTH && random.nextBoolean()) {
      service = startService(); // waits for the database
    }
    if (victim != Victim.SERVICE) {
      pause();
      server.restart();
    }
    if (!service.process.isAlive()) {
      service = startService();
    }
    service.awaitReady();
  }

  private ServiceProcess startService() {
    return new ServiceProcess(Database.of(server).environment("DATABASE_TIMEOUT_SECONDS", "5"));
  }

  private void pause() {
    LockSupport.parkNanos(random.nextInt(1_000) * 1_000_000L);
  }
}
