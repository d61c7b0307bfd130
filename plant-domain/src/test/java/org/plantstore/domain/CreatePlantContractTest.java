package org.plantstore.domain;

import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.extension.TestInstancePostProcessor;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;
import org.plantstore.domain.contract.CreatePlantContract;

/** Runs the contract on a sound implementation, and on some with one mistake each. */
@Execution(ExecutionMode.CONCURRENT)
class CreatePlantContractTest {

  private static final Semaphore CONNECTIONS = new Semaphore(16);

  /** An implementation on a map, and the beginning of the name of the test that fails. */
  @SuppressWarnings("ImmutableEnumChecker") // the checker does not know lambdas
  enum Sample {
    SOUND("", Sample::create),
    REFUSES_WHAT_IT_CREATED(
        "plant_with_a_free_id",
        (plants, plant) -> {
          if (plants.putIfAbsent(plant.id(), plant) != null) {
            throw new PlantIdTakenException(plant.id());
          }
          return plant.plant();
        }),
    COMPARES_WITHOUT_CASE(
        "taken_id",
        (plants, plant) -> {
          NewPlant stored = plants.putIfAbsent(plant.id(), plant);
          boolean isAlike = stored == null || stored.name().equalsIgnoreCase(plant.name());
          return isAlike ? plant.plant() : create(plants, plant);
        }),
    READS_THEN_WRITES(
        "of_concurrent_calls",
        (plants, plant) -> {
          boolean isFree = !plants.containsKey(plant.id());
          LockSupport.parkNanos(1_000_000);
          if (isFree) {
            plants.put(plant.id(), plant);
          }
          return isFree ? plant.plant() : create(plants, plant);
        }),
    TRIMS(
        "text_is_kept",
        (plants, plant) ->
            create(plants, new NewPlant(plant.id(), plant.name().strip(), plant.tag()))),
    KEEPS_IDS_AS_DOUBLES(
        "text_is_kept",
        (plants, plant) ->
            create(plants, new NewPlant((long) (double) plant.id(), plant.name(), plant.tag()))),
    FAILS_IN_ITS_OWN_WAY("unavailable_store", Sample::create) {
      @Override
      RuntimeException unavailable() {
        return new IllegalStateException("503");
      }
    },
    WRAPS_THE_FAILURE_OF_A_STAGE("taken_id", Sample::create) {
      @Override
      CreatePlant on(ConcurrentMap<Long, NewPlant> plants) {
        return new CreatePlant() {
          @Override
          public Plant create(NewPlant plant) {
            return Sample.create(plants, plant);
          }

          @Override
          public CompletionStage<Plant> createAsync(NewPlant plant, Executor executor) {
            return CompletableFuture.supplyAsync(() -> create(plant), executor);
          }
        };
      }
    },
    HAS_SIXTEEN_CONNECTIONS(
        "many_threads",
        (plants, plant) -> {
          if (!CONNECTIONS.tryAcquire()) {
            throw new PlantStoreUnavailableException("no connection is free");
          }
          LockSupport.parkNanos(2_000_000);
          CONNECTIONS.release();
          return create(plants, plant);
        }),
    TAKES_NULL_FOR_A_PLANT(
        "null_is_refused",
        (plants, plant) ->
            create(plants, Optional.ofNullable(plant).orElse(new NewPlant(0, "", null))));

    private final String failedTest;
    private final BiFunction<ConcurrentMap<Long, NewPlant>, NewPlant, Plant> create;

    Sample(String failedTest, BiFunction<ConcurrentMap<Long, NewPlant>, NewPlant, Plant> create) {
      this.failedTest = failedTest;
      this.create = create;
    }

    CreatePlant on(ConcurrentMap<Long, NewPlant> plants) {
      return plant -> create.apply(plants, plant);
    }

    RuntimeException unavailable() {
      return new PlantStoreUnavailableException("no answer");
    }

    private static Plant create(ConcurrentMap<Long, NewPlant> plants, NewPlant plant) {
      NewPlant stored = plants.putIfAbsent(plant.id(), plant);
      if (stored != null && !stored.equals(plant)) {
        throw new PlantIdTakenException(plant.id());
      }
      return plant.plant();
    }
  }

  /** JUnit creates the instances of the contract, and tells them the sample. */
  static class SampleContract extends CreatePlantContract {

    @RegisterExtension
    static final TestInstancePostProcessor SAMPLE =
        (instance, context) ->
            ((SampleContract) instance).sample =
                context
                    .getConfigurationParameter(Sample.class.getName(), Sample::valueOf)
                    .orElseThrow();

    private Sample sample = Sample.SOUND;

    @Override
    protected CreatePlant createPlant() {
      return sample.on(new ConcurrentHashMap<>());
    }

    @Override
    protected CreatePlant unavailable() {
      return plant -> {
        throw sample.unavailable();
      };
    }
  }

  @Test
  void sound_implementation_passes() {
    run(Sample.SOUND, selectClass(SampleContract.class))
        .assertStatistics(tests -> tests.started(13).succeeded(13));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SOUND")
  void test_of_the_mistake_fails(Sample broken) {
    DiscoverySelector test =
        Stream.of(CreatePlantContract.class.getDeclaredMethods())
            .filter(method -> method.getName().startsWith(broken.failedTest))
            .map(method -> selectMethod(SampleContract.class, method))
            .findFirst()
            .orElseThrow();
    assertNotEquals(0, run(broken, test).failed().count());
  }

  private static Events run(Sample sample, DiscoverySelector tests) {
    return EngineTestKit.engine("junit-jupiter")
        .configurationParameter(Sample.class.getName(), sample.name())
        .selectors(tests)
        .execute()
        .testEvents();
  }
}
