package org.plantstore.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantIdTakenException;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;

/** What the contract that {@link PlantCreationContractTest} runs does not tell of the use case. */
class PlantCreationTest {

  private static final NewPlant FERN = new NewPlant(7, "fern", "shade");

  @Test
  void store_is_given_the_plant_itself() {
    List<NewPlant> stored = new ArrayList<>();
    PlantStore store =
        plant -> {
          stored.add(plant);
          return plant;
        };
    new PlantCreation(store).create(FERN);
    assertEquals(List.of(FERN), stored);
  }

  @Test
  void failure_of_the_store_is_passed_on() {
    var unavailable = new PlantStoreUnavailableException("no answer");
    CreatePlant unstored =
        new PlantCreation(plant -> {
          throw unavailable;
        });

    assertSame(
        unavailable,
        assertThrows(PlantStoreUnavailableException.class, () -> unstored.create(FERN)));
    assertEquals(List.of(unavailable), outcome(unstored, FERN));
  }

  @Test
  @SuppressWarnings("NullAway") // a store that breaks its contract
  void store_that_returns_null_or_another_id_is_at_fault() {
    assertFault(NullPointerException.class, plant -> null);
    assertFault(IllegalStateException.class, plant -> new NewPlant(8, "fern", "shade"));
  }

  private static void assertFault(Class<? extends Throwable> type, PlantStore broken) {
    CreatePlant creation = new PlantCreation(broken);
    Throwable fault = assertThrows(type, () -> creation.create(FERN));
    assertTrue(
        String.valueOf(fault.getMessage()).startsWith(creation + " must return "), fault::toString);
    assertInstanceOf(type, outcome(creation, FERN).get(0));
  }

  @Test
  @SuppressWarnings("NullAway") // as a caller without a checker may
  void store_must_not_be_null() {
    assertThrows(NullPointerException.class, () -> new PlantCreation(null));
  }

  /** As the proxies of Spring and CDI, which are subclasses. */
  @Test
  void use_case_can_be_proxied() {
    List<NewPlant> seen = new ArrayList<>();
    CreatePlant proxy =
        new PlantCreation(plant -> plant) {
          @Override
          public Plant create(NewPlant plant) {
            seen.add(plant);
            return super.create(plant);
          }
        };

    assertEquals(FERN.plant(), proxy.create(FERN));
    assertEquals(List.of(FERN), seen);
  }

  @Test
  void stage_of_a_store_that_does_not_block_is_passed_on_or_cancelled() {
    List<CompletableFuture<NewPlant>> stages = new ArrayList<>();
    PlantStore store =
        new PlantStore() {
          @Override
          public NewPlant putIfAbsent(NewPlant plant) {
            throw new UnsupportedOperationException();
          }

          @Override
          public CompletionStage<NewPlant> putIfAbsentAsync(NewPlant plant, Executor executor) {
            stages.add(new CompletableFuture<>());
            return stages.get(stages.size() - 1);
          }

          @Override
          public boolean isNonBlocking() {
            return true;
          }
        };
    CreatePlant creation = new PlantCreation(store);
    assertEquals(store.getClass().getName(), creation.toString());
    List<List<Object>> outcomes = new ArrayList<>();
    for (int create = 0; create < 3; create++) {
      outcomes.add(outcome(creation, FERN));
    }
    var unavailable = new PlantStoreUnavailableException("no answer");

    stages.get(0).complete(FERN);
    stages.get(1).complete(new NewPlant(7, "moss", null));
    stages.get(2).completeExceptionally(unavailable);
    assertEquals(List.of(FERN.plant()), outcomes.get(0));
    assertInstanceOf(PlantIdTakenException.class, outcomes.get(1).get(0));
    assertEquals(List.of(unavailable), outcomes.get(2));

    creation.createAsync(FERN, Runnable::run).toCompletableFuture().cancel(true);
    assertTrue(stages.get(3).isCancelled());
  }

  /** Returns the plant or the exception that the stage completes with. */
  private static List<Object> outcome(CreatePlant createPlant, NewPlant plant) {
    List<Object> outcome = new ArrayList<>();
    CompletionStage<Plant> unused =
        createPlant
            .createAsync(plant, Runnable::run)
            .whenComplete((created, failure) -> outcome.add(failure == null ? created : failure));
    return outcome;
  }
}
