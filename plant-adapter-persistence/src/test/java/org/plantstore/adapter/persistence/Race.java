package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;

/** Callers who want the same ids for different plants, through two stores on one database. */
final class Race {

  private static final int RACERS = 32;

  private Race() {}

  /** Runs it, and requires that all callers are told of one plant for each id (R3). */
  static void assertOnePlantForEachId(PlantStore one, PlantStore other, int ids) throws Exception {
    Map<Long, Set<NewPlant>> answers = new ConcurrentHashMap<>();
    ExecutorService racers = Executors.newFixedThreadPool(RACERS);
    try {
      List<Future<?>> races = new ArrayList<>();
      for (int racer = 0; racer < RACERS; racer++) {
        PlantStore store = racer % 2 == 0 ? one : other;
        String name = "name " + racer;
        races.add(
            racers.submit(() -> {
              for (long id = 0; id < ids; id++) {
                NewPlant stored = store.putIfAbsent(new NewPlant(id, name, null));
                answers.computeIfAbsent(id, absent -> ConcurrentHashMap.newKeySet()).add(stored);
              }
            }));
      }
      for (Future<?> race : races) {
        race.get();
      }
    } finally {
      racers.shutdownNow();
    }
    assertEquals(ids, answers.size());
    assertEquals(
        List.of(), answers.values().stream().filter(contents -> contents.size() > 1).toList());
  }
}
