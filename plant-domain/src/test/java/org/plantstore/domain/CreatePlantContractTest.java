package org.plantstore.domain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.platform.engine.DiscoverySelector;
import org.plantstore.domain.contract.CreatePlantContract;

/** Runs the contract on a sound implementation, and each test on a faulty one. */
class CreatePlantContractTest {

  /** A fault, with the prefix of the name of the test that detects it. */
  enum Fault {
    NONE(""),
    REJECTS_A_RETRY("repeated_call"),
    IGNORES_CASE("taken_id"),
    READS_THEN_WRITES("concurrent_calls"),
    THROWS_ITS_OWN_EXCEPTION("call_can_be_retried"),
    DOES_NOT_WAIT_FOR_ITS_ONLY_CONNECTION("many_threads"),
    ACCEPTS_NULL("null_is_rejected");

    final String test;

    Fault(String test) {
      this.test = test;
    }
  }

  /** Static, because JUnit creates the instances of the contract. */
  private static Fault fault = Fault.NONE;

  static class SampleContract extends CreatePlantContract {

    private final Map<Long, NewPlant> plants = new ConcurrentHashMap<>();
    private final Semaphore connection = new Semaphore(1);

    @Override
    protected CreatePlant createPlant() {
      return this::create;
    }

    @Override
    protected CreatePlant unavailable() {
      return plant -> {
        throw fault == Fault.THROWS_ITS_OWN_EXCEPTION
            ? new IllegalStateException("503")
            : new PlantStoreUnavailableException("no answer");
      };
    }

    private Plant create(NewPlant plant) {
      NewPlant before = plant == null ? null : plants.get(plant.id());
      switch (fault) {
        case REJECTS_A_RETRY -> {
          if (before != null) {
            throw new PlantIdTakenException(plant.id());
          }
        }
        case IGNORES_CASE -> {
          if (before != null && before.name().equalsIgnoreCase(plant.name())) {
            return plant.plant();
          }
        }
        case READS_THEN_WRITES -> {
          LockSupport.parkNanos(1_000_000);
          if (before == null) {
            plants.put(plant.id(), plant);
          }
        }
        case DOES_NOT_WAIT_FOR_ITS_ONLY_CONNECTION -> {
          if (!connection.tryAcquire()) {
            throw new PlantStoreUnavailableException("no connection is free");
          }
          LockSupport.parkNanos(1_000_000);
          connection.release();
        }
        case ACCEPTS_NULL -> {
          if (plant == null) {
            return new Plant("", null);
          }
        }
        default -> {}
      }
      NewPlant stored = plants.computeIfAbsent(plant.id(), id -> plant);
      if (!stored.equals(plant)) {
        throw new PlantIdTakenException(plant.id());
      }
      return plant.plant();
    }
  }

  @Test
  void sound_implementation_passes() {
    assertEquals(List.of(), failures(Fault.NONE, selectClass(SampleContract.class)));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void faulty_implementation_fails(Fault fault) {
    for (DiscoverySelector test : PlantStoreContractTest.tests(SampleContract.class, fault.test)) {
      assertNotEquals(List.of(), failures(fault, test));
    }
  }

  private static List<String> failures(Fault tested, DiscoverySelector tests) {
    fault = tested;
    return PlantStoreContractTest.messages(PlantStoreContractTest.run(tests).failed());
  }
}
