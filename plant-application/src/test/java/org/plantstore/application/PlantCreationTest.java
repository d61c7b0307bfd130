package org.plantstore.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantIdTakenException;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;

class PlantCreationTest {

  private static final NewPlant FERN = new NewPlant(7, "fern", "shade");

  private final ConcurrentMap<Long, NewPlant> database = new ConcurrentHashMap<>();
  private final CreatePlant createPlant =
      new PlantCreation(plant -> {
        NewPlant stored = database.putIfAbsent(plant.id(), plant);
        return stored == null ? plant : stored;
      });

  @Test
  void plant_with_a_free_id_is_stored_and_returned_as_often_as_it_is_created() {
    assertEquals(List.of(FERN.plant()), outcome(createPlant, FERN));
    assertEquals(List.of(FERN.plant()), outcome(createPlant, FERN));
    assertEquals(FERN.plant(), createPlant.create(FERN));
    assertEquals(Map.of(7L, FERN), database);
    assertEquals(new Plant("moss", null), createPlant.create(new NewPlant(8, "moss", null)));
  }

  @ParameterizedTest
  @CsvSource({"moss, shade", "fern, sun", "fern, ''", "fern, "})
  void same_id_with_other_name_or_tag_is_refused(String name, @Nullable String tag) {
    NewPlant other = new NewPlant(7, name, tag);
    createPlant.create(FERN);

    assertEquals(
        7, assertThrows(PlantIdTakenException.class, () -> createPlant.create(other)).id());
    assertEquals(
        7, assertInstanceOf(PlantIdTakenException.class, outcome(createPlant, other).get(0)).id());
    assertEquals(Map.of(7L, FERN), database);
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
    assertThrows(type, () -> creation.create(FERN));
    assertInstanceOf(type, outcome(creation, FERN).get(0));
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

  @Test
  @SuppressWarnings("NullAway") // this test passes null
  void null_is_refused() {
    assertThrows(NullPointerException.class, () -> createPlant.create(null));
    assertThrows(NullPointerException.class, () -> createPlant.createAsync(null, Runnable::run));
    assertThrows(NullPointerException.class, () -> createPlant.createAsync(FERN, null));
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
