package org.plantstore.domain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.engine.DiscoverySelector;
import org.plantstore.domain.contract.CreatePlantContract;

/** Runs the contract on a sound implementation, and on one for each test that it must fail. */
class CreatePlantContractTest {

  /** An implementation on a map, and the beginning of the name of the test that fails. */
  record Sample(String failedTest, BiFunction<Map<Long, NewPlant>, NewPlant, Plant> create) {}

  private static final Sample SOUND = new Sample("", CreatePlantContractTest::create);
  private static final Semaphore CONNECTION = new Semaphore(1);

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
        throw sample.failedTest.equals("unavailable_store")
            ? new IllegalStateException("503")
            : new PlantStoreUnavailableException("no answer");
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
        new Sample("unavailable_store", CreatePlantContractTest::create),
        new Sample(
            "plant_is_created",
            (plants, plant) -> {
              if (plants.putIfAbsent(plant.id(), plant) != null) {
                throw new PlantIdTakenException(plant.id());
              }
              return plant.plant();
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
              return create(plants, plant);
            }),
        new Sample(
            "many_threads",
            (plants, plant) -> {
              if (!CONNECTION.tryAcquire()) {
                throw new PlantStoreUnavailableException("no connection is free");
              }
              LockSupport.parkNanos(1_000_000);
              CONNECTION.release();
              return create(plants, plant);
            }),
        new Sample(
            "null_is_refused",
            (plants, plant) -> create(plants, plant == null ? new NewPlant(0, "", null) : plant)));
  }

  @Test
  void sound_implementation_passes() {
    sample = SOUND;
    assertEquals(List.of(), failures(selectClass(SampleContract.class)));
  }

  @ParameterizedTest
  @MethodSource("broken")
  void test_of_the_mistake_fails(Sample broken) {
    sample = broken;
    for (DiscoverySelector test :
        PlantStoreContractTest.tests(SampleContract.class, broken.failedTest)) {
      assertNotEquals(List.of(), failures(test));
    }
  }

  private static List<String> failures(DiscoverySelector tests) {
    return PlantStoreContractTest.messages(PlantStoreContractTest.run(tests).failed());
  }
}
