package org.plantstore.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.junit.jupiter.api.Test;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantIdTakenException;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;

class PlantCreationTest {

  private static final NewPlant FERN = new NewPlant(7, "fern", "shade");

  private final ConcurrentMap<Long, NewPlant> database = new ConcurrentHashMap<>();
  private final PlantStore store =
      plant -> {
        NewPlant stored = database.putIfAbsent(plant.id(), plant);
        return stored == null ? plant : stored;
      };
  private final CreatePlant createPlant = new PlantCreation(store);

  private final PlantStoreUnavailableException unavailable =
      new PlantStoreUnavailableException("no answer");
  private final CreatePlant unstored =
      new PlantCreation(plant -> {
        throw unavailable;
      });

  @Test
  void plant_with_a_free_id_is_stored_and_returned() {
    assertEquals(new Plant("fern", "shade"), createPlant.create(FERN));
    assertEquals(Map.of(7L, FERN), database);
  }

  @Test
  void same_plant_again_returns_the_same_as_the_first_time() {
    assertEquals(createPlant.create(FERN), createPlant.create(FERN));
    assertEquals(Map.of(7L, FERN), database);
  }

  @Test
  void same_id_with_other_name_is_refused() {
    assertRefused(new NewPlant(7, "moss", "shade"));
  }

  @Test
  void same_id_with_other_tag_is_refused() {
    assertRefused(new NewPlant(7, "fern", "sun"));
    assertRefused(new NewPlant(7, "fern", ""));
    assertRefused(new NewPlant(7, "fern", null));
  }

  @Test
  void failure_of_the_store_is_passed_on() {
    assertSame(
        unavailable,
        assertThrows(PlantStoreUnavailableException.class, () -> unstored.create(FERN)));
  }

  @Test
  @SuppressWarnings("NullAway") // a store that breaks its contract
  void store_that_returns_null_does_not_take_the_id() {
    CreatePlant broken = new PlantCreation(plant -> null);

    assertThrows(NullPointerException.class, () -> broken.create(FERN));
    assertInstanceOf(NullPointerException.class, outcome(broken, FERN).get(0));
  }

  @Test
  void asynchronous_form_ends_as_the_blocking_one_does() {
    assertEquals(List.of(new Plant("fern", "shade")), outcome(createPlant, FERN));
    assertEquals(List.of(new Plant("fern", "shade")), outcome(createPlant, FERN));
    assertEquals(List.of(unavailable), outcome(unstored, FERN));
    PlantIdTakenException taken =
        assertInstanceOf(
            PlantIdTakenException.class,
            outcome(createPlant, new NewPlant(7, "moss", "shade")).get(0));
    assertEquals(7, taken.id());
    assertEquals(Map.of(7L, FERN), database);
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

  @Test
  @SuppressWarnings("NullAway") // this test passes null
  void null_is_refused() {
    assertThrows(NullPointerException.class, () -> createPlant.create(null));
    assertThrows(NullPointerException.class, () -> createPlant.createAsync(null, Runnable::run));
    assertThrows(NullPointerException.class, () -> createPlant.createAsync(FERN, null));
  }

  private void assertRefused(NewPlant other) {
    createPlant.create(FERN);

    PlantIdTakenException taken =
        assertThrows(PlantIdTakenException.class, () -> createPlant.create(other));

    assertEquals(7, taken.id());
    assertEquals(Map.of(7L, FERN), database);
  }
}
