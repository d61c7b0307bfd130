package org.plantstore.domain;

import static java.util.stream.Collectors.joining;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.plantstore.domain.contract.CreatePlantContract;

/** Runs the contract on a sound implementation, and on some with one mistake each. */
class CreatePlantContractTest {

  /** An implementation on a map, and the beginning of the name of the test that fails. */
  record Sample(String failedTest, BiFunction<Map<Long, NewPlant>, NewPlant, Plant> create) {}

  private static final Sample SOUND = new Sample("", CreatePlantContractTest::create);
  private static final Semaphore CONNECTIONS = new Semaphore(16);

  /** Static, because JUnit creates the instances of the contract. */
  private static Sample sample = SOUND;

  private static Supplier<RuntimeException> failure =
      () -> new PlantStoreUnavailableException("no answer");

  static class SampleContract extends CreatePlantContract {

    @Override
    protected CreatePlant createPlant() {
      Map<Long, NewPlant> plants = new ConcurrentHashMap<>();
      return plant -> sample.create.apply(plants, plant);
    }

    @Override
    protected CreatePlant unavailable() {
      return plant -> {
        throw failure.get();
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
  void sound_implementation_passes_unless_its_failure_has_another_type() {
    assertEquals("", failedTests(SOUND));
    Supplier<RuntimeException> sound = failure;
    failure = () -> new IllegalStateException("503");
    String failed = failedTests(SOUND);
    failure = sound;
    assertTrue(failed.matches("(unavailable_store\\S+ ?){2}"), failed);
  }

  @ParameterizedTest
  @MethodSource("broken")
  void test_of_the_mistake_fails(Sample broken) {
    String failed = failedTests(broken);
    assertTrue(failed.contains(broken.failedTest), failed);
  }

  private static String failedTests(Sample tested) {
    sample = tested;
    return EngineTestKit.engine("junit-jupiter")
        .selectors(selectClass(SampleContract.class))
        .execute()
        .testEvents()
        .failed()
        .map(test ->
            test.getTestDescriptor()
                .getUniqueId()
                .toString()
                .replaceAll(".*(method|test-template):([^(]+).*", "$2"))
        .collect(joining(" "));
  }
}
