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

/** Tests behavior of the use case that {@link PlantCreationContractTest} does not cover. */
class PlantCreationTest {

  private static final NewPlant FERN = new NewPlant(7, "fern", "shade");

  @Test
  void store_receives_the_plant_unchanged() {
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
  void caller_receives_the_exception_from_the_store_unchanged() {
    List<Violation> violations = List.of(new Violation("tag", "must have at most 4 characters"));
    for (RuntimeException failure :
        List.of(
            new PlantStoreUnavailableException("no answer"),
            new InvalidPlantException(new NewPlant(7, "fern", "shade"), violations),
            new PlantIdTakenException(7))) {
      for (CreatePlant creation : withFailingStores(() -> failure)) {
        assertSame(failure, assertThrows(RuntimeException.class, () -> creation.create(FERN)));
        assertEquals(List.of(failure), outcome(creation, FERN));
      }
    }
  }

  @Test
  @SuppressWarnings("NullAway") // one store violates its contract and returns null
  void returning_null_or_another_id_is_an_internal_error() {
    assertFault(NullPointerException.class, " must return a plant", new PlantCreation(any -> null));
    NewPlant other = new NewPlant(8, "fern", "shade");
    assertFault(
        IllegalStateException.class,
        " must return the plant with id 7",
        new PlantCreation(any -> other));
  }

  /**
   * The caller is not responsible for a row that another program wrote or that an older rule
   * allowed.
   */
  @Test
  void rejecting_a_plant_that_was_not_sent_is_an_internal_error() {
    List<Violation> violations = List.of(new Violation("name", "must have at most 200 characters"));
    NewPlant row = new NewPlant(7, "x".repeat(300), null);
    for (Supplier<RuntimeException> rejection :
        List.<Supplier<RuntimeException>>of(
            () -> assertThrows(InvalidPlantException.class, () -> new NewPlant(7, "a\0b", null)),
            () -> assertThrows(InvalidPlantException.class, () -> new Plant("fern", "\uD83C")),
            () -> new InvalidPlantException(row, violations),
            () -> new PlantIdTakenException(8))) {
      for (CreatePlant creation : withFailingStores(rejection)) {
        String message = " must reject only the plant that it receives, which has id 7";
        assertFault(IllegalStateException.class, message, creation);
      }
    }
  }

  /** Returns the use case with a blocking store, and the use case with a non-blocking store. */
  private static List<CreatePlant> withFailingStores(Supplier<RuntimeException> failure) {
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
  @SuppressWarnings("NullAway") // a caller without a nullness checker may pass null
  void null_store_is_rejected() {
    assertThrows(NullPointerException.class, () -> new PlantCreation(null));
  }

  /** Spring and CDI create proxies that are subclasses of the use case. */
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
  void outcome_of_a_non_blocking_store_is_passed_on_and_its_stage_can_be_canceled() {
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

  /** Returns the plant or the exception with which the stage completes. */
  private static List<Object> outcome(CreatePlant createPlant, NewPlant plant) {
    List<Object> outcome = new ArrayList<>();
    CompletionStage<Plant> unused =
        createPlant
            .createAsync(plant, Runnable::run)
            .whenComplete((created, failure) -> outcome.add(failure == null ? created : failure));
    return outcome;
  }
}
