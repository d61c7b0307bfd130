package org.plantstore.domain.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantIdTakenException;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.plantstore.domain.contract.Calls.Form;
import org.plantstore.domain.contract.Calls.InBothForms;

/**
 * Tests an implementation of {@link CreatePlant}, in its blocking and in its asynchronous form: a
 * call has the same outcome wherever plants are created. The test of an implementation extends this
 * class:
 *
 * <pre>{@code
 * class RemotePlantsTest extends CreatePlantContract {
 *
 *   @Override
 *   protected CreatePlant createPlant() {
 *     truncateTable();
 *     return PlantClient.builder(address, () -> token).build();
 *   }
 * }
 * }</pre>
 *
 * <p>Each test needs an empty store. A run makes 5,000 calls, some of them with 1 MiB of text.
 */
public abstract class CreatePlantContract {

  private static final int CALLERS = 32;
  private static final int RACES = 20;
  private static final int LARGEST_TEXT = 1 << 20;
  private static final String TAKEN = "the id is taken";

  /** Constructor for subclasses. */
  protected CreatePlantContract() {}

  /** {@return the implementation under test, on an empty store} Each test calls this once. */
  protected abstract CreatePlant createPlant();

  /**
   * {@return an implementation whose store is unavailable} If this is not overridden, the test of
   * an unavailable store is aborted.
   */
  protected CreatePlant unavailable() {
    return abort("an unavailable store is not shown: override unavailable() to show it");
  }

  @InBothForms
  void taken_id_is_refused_and_nothing_changes(Form form) {
    CreatePlant createPlant = createPlant();
    for (List<NewPlant> alike : Plants.alike(LARGEST_TEXT / 16)) {
      NewPlant plant = alike.get(0);
      alike.forEach(other ->
          assertOutcome(other.equals(plant) ? plant.plant() : TAKEN, createPlant, form, other));
      assertOutcome(plant.plant(), createPlant, form.other(), plant);
    }
  }

  @InBothForms
  void of_concurrent_calls_for_one_id_one_plant_wins(Form form) {
    CreatePlant createPlant = createPlant();
    for (int race = 1; race <= RACES; race++) {
      List<NewPlant> rivals = new ArrayList<>();
      for (int rival = 0; rival < CALLERS; rival++) {
        rivals.add(Plants.rival(race, rival % (race % 4 + 1)));
      }
      List<Object> outcomes = outcomesAtOnce(createPlant, form, rivals);
      Object winner = outcomes.stream().filter(Plant.class::isInstance).findFirst().orElseThrow();
      assertEquals(
          rivals.stream().map(rival -> rival.plant().equals(winner) ? winner : TAKEN).toList(),
          outcomes);
    }
  }

  @InBothForms
  void plant_is_created_exactly_as_often_as_it_is_asked_for(Form form) {
    CreatePlant createPlant = createPlant();
    List<NewPlant> plants = new ArrayList<>(Plants.bounds()); // every long is an id
    plants.addAll(Plants.alikeWithOtherIds());
    plants.addAll(Plants.unusual(LARGEST_TEXT));
    for (Form turn : List.of(form, form, form.other())) {
      plants.forEach(plant -> assertOutcome(plant.plant(), createPlant, turn, plant));
    }
  }

  @InBothForms
  void unavailable_store_permits_a_retry(Form form) {
    CreatePlant createPlant = createPlant();
    NewPlant plant = Plants.plant(1);
    Object outcome = outcome(unavailable(), form, plant);
    assertNull(assertInstanceOf(PlantStoreUnavailableException.class, outcome).getCause());
    assertOutcome(plant.plant(), createPlant, form, plant);
  }

  @InBothForms
  void many_threads_create_plants_and_a_cancelled_call_takes_no_other_with_it(Form form) {
    CreatePlant createPlant = createPlant();
    for (int round = 0; round < RACES; round++) {
      long first = 1 + (long) round * CALLERS;
      List<NewPlant> plants = Plants.plants(first, first + CALLERS);
      NewPlant cancelled = Plants.plant(-first);
      createPlant.createAsync(cancelled, Calls.CALLERS).toCompletableFuture().cancel(true);
      assertEquals(
          plants.stream().map(NewPlant::plant).toList(), outcomesAtOnce(createPlant, form, plants));
      assertOutcome(cancelled.plant(), createPlant, form, cancelled);
    }
  }

  @Test
  @SuppressWarnings("NullAway") // this test passes null
  void null_is_refused() {
    CreatePlant createPlant = createPlant();
    NewPlant plant = Plants.plant(1);
    assertThrows(NullPointerException.class, () -> createPlant.create(null));
    assertThrows(NullPointerException.class, () -> createPlant.createAsync(null, Runnable::run));
    assertThrows(NullPointerException.class, () -> createPlant.createAsync(plant, null));
  }

  /**
   * Returns the plant, {@link #TAKEN} if the id of the plant is told as taken, or the exception.
   */
  private static Object outcome(CreatePlant createPlant, Form form, NewPlant plant) {
    Object outcome =
        Calls.outcome(() ->
            form == Form.BLOCKING
                ? createPlant.create(plant)
                : Calls.await(createPlant.createAsync(plant, Calls.CALLERS)));
    boolean taken = outcome instanceof PlantIdTakenException refused && refused.id() == plant.id();
    return taken ? TAKEN : outcome;
  }

  private static List<Object> outcomesAtOnce(
      CreatePlant createPlant, Form form, List<NewPlant> plants) {
    Stream<Callable<Object>> calls =
        plants.stream().map(plant -> () -> outcome(createPlant, form, plant));
    return Calls.atOnce(calls.toList(), Duration.ofMinutes(5));
  }

  private static void assertOutcome(
      Object expected, CreatePlant createPlant, Form form, NewPlant plant) {
    Object outcome = outcome(createPlant, form, plant);
    if (!expected.equals(outcome)) { // assertEquals would print megabytes
      String shown = outcome.toString().replaceFirst("(?s)(.{300}).+", "$1...");
      Throwable cause = outcome instanceof Throwable thrown ? thrown : null;
      fail("the outcome for " + Description.of(plant, plant) + " must not be " + shown, cause);
    }
  }
}
