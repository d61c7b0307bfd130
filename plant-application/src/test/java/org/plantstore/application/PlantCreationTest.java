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
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.InvalidPlantException.Violation;
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
  void failure_of_the_store_and_its_refusal_of_the_plant_are_passed_on() {
    List<Violation> violations = List.of(new Violation("tag", "must have at most 4 characters"));
    for (RuntimeException failure :
        List.of(
            new PlantStoreUnavailableException("no answer"),
            new InvalidPlantException(new NewPlant(7, "fern", "shade"), violations),
            new PlantIdTakenException(7))) {
      for (CreatePlant creation : onStoresThatFail(() -> failure)) {
        assertSame(failure, assertThrows(RuntimeException.class, () -> creation.create(FERN)));
        assertEquals(List.of(failure), outcome(creation, FERN));
      }
    }
  }

  @Test
  @SuppressWarnings("NullAway") // a store that breaks its contract
  void store_that_returns_null_or_another_id_is_at_fault() {
    assertFault(NullPointerException.class, " must return a plant", new PlantCreation(any -> null));
    NewPlant other = new NewPlant(8, "fern", "shade");
    assertFault(
        IllegalStateException.class,
        " must return the plant with the id 7",
        new PlantCreation(any -> other));
  }

  /** A row that another program, or an older rule, has left is no error of the caller. */
  @Test
  void store_that_refuses_what_it_has_stored_or_another_plant_is_at_fault() {
    List<Violation> violations = List.of(new Violation("name", "must have at most 200 characters"));
    NewPlant row = new NewPlant(7, "x".repeat(300), null);
    for (Supplier<RuntimeException> refusal :
        List.<Supplier<RuntimeException>>of(
            () -> assertThrows(InvalidPlantException.class, () -> new NewPlant(7, "a\0b", null)),
            () -> assertThrows(InvalidPlantException.class, () -> new Plant("fern", "\uD83C")),
            () -> new InvalidPlantException(row, violations),
            () -> new PlantIdTakenException(8))) {
      for (CreatePlant creation : onStoresThatFail(refusal)) {
        String message = " must refuse only the plant that it is given, here that with the id 7";
        assertFault(IllegalStateException.class, message, creation);
      }
    }
  }

  /** Returns the use case on a store that blocks, and on one that does not. */
  private static List<CreatePlant> onStoresThatFail(Supplier<RuntimeException> failure) {
    PlantStore blocking =
        plant -> {
          throw failure.get();
        };
    PlantStore nonBlocking =
        new PlantStore() {
          @Override
          public NewPlant putIfAbsent(NewPlant plant) {
            throw failure.get();
          }

          @Override
          public boolean isNonBlocking() {
            return true;
          }
        };
    return List.of(new PlantCreation(blocking), new PlantCreation(nonBlocking));
  }

  private static void assertFault(
      Class<? extends Throwable> type, String message, CreatePlant creation) {
    for (Object fault :
        List.of(assertThrows(type, () -> creation.create(FERN)), outcome(creation, FERN).get(0))) {
      Throwable thrown = assertInstanceOf(type, fault);
      assertTrue(
          String.valueOf(thrown.getMessage()).startsWith(creation + message), thrown::toString);
    }
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
