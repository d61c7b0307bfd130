package org.plantstore.domain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.testkit.engine.Events;
import org.plantstore.domain.contract.CreatePlantContract;

/** Runs the contract on a sound implementation, and on some with one mistake each. */
class CreatePlantContractTest {

  /** An implementation on a map, and the beginning of the names of the tests that fail. */
  record Sample(
      String failedTests,
      RuntimeException failure,
      BiFunction<Map<Long, NewPlant>, NewPlant, Plant> create) {

    Sample(String failedTests, BiFunction<Map<Long, NewPlant>, NewPlant, Plant> create) {
      this(failedTests, new PlantStoreUnavailableException("no answer"), create);
    }
  }

  private static final Sample SOUND = new Sample("", CreatePlantContractTest::create);
  private static final Semaphore CONNECTIONS = new Semaphore(16);

  /** Static, because JUnit creates the instances of the contract. */
  private static Sample sample = SOUND;

  static class SampleContract extends CreatePlantContract {

    @Override
    protected CreatePlant createPlant() {
      Map<Long, NewPlant> plants = new ConcurrentHashMap<>();
      return plant -> sample.create.apply(plants, plant);
    }

    @Override
    protected CreatePlant unavailable() {
      return plant -> {
        throw sample.failure;
      };
    }
  }

  private static Plant create(Map<Long, NewPlant> plants, NewPlant plant) {
    NewPlant stored = plants.putIfAbsent(plant.id(), plant);
    if (stored != null && !stored.equals(plant)) {
      throw new PlantIdTakenException(plant.id());
    }
    return plant.plant();
  }

  static Stream<Sample> broken() {
    return Stream.of(
        new Sample(
            "unavailable", new IllegalStateException("503"), CreatePlantContractTest::create),
        new Sample(
            "plant_is_created",
            (plants, plant) -> {
              if (plants.containsKey(plant.id())) {
                throw new PlantIdTakenException(plant.id());
              }
              return create(plants, plant);
            }),
        new Sample(
            "taken_id",
            (plants, plant) -> {
              NewPlant stored = plants.putIfAbsent(plant.id(), plant);
              boolean isAlike = stored == null || stored.name().equalsIgnoreCase(plant.name());
              return isAlike ? plant.plant() : create(plants, plant);
            }),
        new Sample(
            "of_concurrent_calls",
            (plants, plant) -> {
              boolean isFree = !plants.containsKey(plant.id());
              LockSupport.parkNanos(1_000_000);
              if (isFree) {
                plants.put(plant.id(), plant);
              }
              return isFree ? plant.plant() : create(plants, plant);
            }),
        new Sample(
            "plant_is_created",
            (plants, plant) ->
                create(plants, new NewPlant(plant.id(), plant.name().strip(), plant.tag()))),
        new Sample(
            "many_threads",
            (plants, plant) -> {
              if (!CONNECTIONS.tryAcquire()) {
                throw new PlantStoreUnavailableException("no connection is free");
              }
              LockSupport.parkNanos(2_000_000);
              CONNECTIONS.release();
              return create(plants, plant);
            }),
        new Sample(
            "null_is_refused",
            (plants, plant) -> create(plants, plant == null ? new NewPlant(0, "", null) : plant)));
  }

  @Test
  void sound_implementation_passes() {
    assertEquals(Map.of(), failures(SOUND));
  }

  @ParameterizedTest
  @MethodSource("broken")
  void test_of_the_mistake_fails(Sample broken) {
    Set<String> failed = failures(broken).keySet();
    assertTrue(
        failed.stream().anyMatch(test -> test.startsWith(broken.failedTests)), failed::toString);
  }

  private static Map<String, String> failures(Sample tested) {
    sample = tested;
    Events run = PlantStoreContractTest.run(selectClass(SampleContract.class));
    return PlantStoreContractTest.messages(run.failed());
  }
}
