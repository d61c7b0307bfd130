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
import org.junit.jupiter.api.Test;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantIdTakenException;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.plantstore.domain.contract.Calls.Form;

/**
 * Tests an implementation of {@link CreatePlant}: a call has the same outcome wherever plants are
 * created, in the blocking and in the asynchronous form. The test of an implementation extends this
 * class.
 *
 * <p>Each test needs an empty store. A run makes 2,000 calls, some of them with 1 MiB of text.
 */
public abstract class CreatePlantContract {

  private static final int CALLERS = 32;
  private static final int ROUNDS = 20;
  private static final String TAKEN = "the id is taken";

  /** Constructor for subclasses. */
  protected CreatePlantContract() {}

  /** {@return the implementation under test, on an empty store} Each test calls this once. */
  protected abstract CreatePlant createPlant();

  /** {@return an implementation whose store is unavailable; the default aborts the test of it} */
  protected CreatePlant unavailable() {
    return abort("an unavailable store is not shown: override unavailable() to show it");
  }

  @Test
  void taken_id_is_refused_and_nothing_changes() {
    CreatePlant createPlant = createPlant();
    for (List<NewPlant> alike : Plants.alike(1 << 20)) {
      NewPlant plant = alike.get(0);
      for (NewPlant other : alike) {
        Object expected = other.equals(plant) ? plant.plant() : TAKEN;
        assertOutcome(expected, createPlant, Form.of(plant.id()), other);
      }
    }
  }

  @Test
  void of_concurrent_calls_for_one_id_one_plant_wins() {
    CreatePlant createPlant = createPlant();
    for (int race = 1; race <= ROUNDS; race++) {
      List<NewPlant> rivals = new ArrayList<>();
      for (int rival = 0; rival < CALLERS; rival++) {
        rivals.add(Plants.rival(race, rival % (race % 4 + 1)));
      }
      List<Object> outcomes = outcomesAtOnce(createPlant, rivals);
      Object winner = outcomes.stream().filter(Plant.class::isInstance).findFirst().orElseThrow();
      assertEquals(
          rivals.stream().map(rival -> rival.plant().equals(winner) ? winner : TAKEN).toList(),
          outcomes);
    }
  }

  @Test
  void plant_is_created_however_often_it_is_asked_for() {
    CreatePlant createPlant = createPlant();
    List<NewPlant> plants = new ArrayList<>(Plants.bounds()); // every long is an id
    plants.addAll(List.of(Plants.rival(2, 1), Plants.rival(3, 1)));
    plants.addAll(Plants.unusual(1 << 20));
    for (int turn = 0; turn < 2; turn++) {
      for (NewPlant plant : plants) {
        assertOutcome(plant.plant(), createPlant, Form.of(plant.id() + turn), plant);
      }
    }
  }

  @Test
  void unavailable_store_permits_a_retry() {
    CreatePlant createPlant = createPlant();
    NewPlant plant = Plants.plant(1);
    for (Form form : Form.values()) {
      Object outcome = outcome(unavailable(), form, plant);
      assertNull(assertInstanceOf(PlantStoreUnavailableException.class, outcome).getCause());
      assertOutcome(plant.plant(), createPlant, form, plant);
    }
  }

  @Test
  void many_threads_create_plants_and_a_cancelled_call_takes_no_other_with_it() {
    CreatePlant createPlant = createPlant();
    for (int round = 0; round < ROUNDS; round++) {
      long first = 1 + (long) round * CALLERS;
      List<NewPlant> plants = Plants.plants(first, first + CALLERS);
      NewPlant cancelled = Plants.plant(-first);
      createPlant.createAsync(cancelled, Calls.CALLERS).toCompletableFuture().cancel(true);
      assertEquals(
          plants.stream().map(NewPlant::plant).toList(), outcomesAtOnce(createPlant, plants));
      assertOutcome(cancelled.plant(), createPlant, Form.of(round), cancelled);
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

  /** Returns the plant, {@link #TAKEN} if its id is told as taken, or another exception. */
  private static Object outcome(CreatePlant createPlant, Form form, NewPlant plant) {
    Object outcome =
        Calls.outcome(() ->
            form == Form.BLOCKING
                ? createPlant.create(plant)
                : Calls.await(createPlant.createAsync(plant, Calls.CALLERS)));
    boolean taken = outcome instanceof PlantIdTakenException refused && refused.id() == plant.id();
    return taken ? TAKEN : outcome;
  }

  /** Returns the outcomes of calls that are made at once, in both forms. */
  private static List<Object> outcomesAtOnce(CreatePlant createPlant, List<NewPlant> plants) {
    List<Callable<Object>> calls = new ArrayList<>();
    for (NewPlant plant : plants) {
      Form form = Form.of(calls.size());
      calls.add(() -> outcome(createPlant, form, plant));
    }
    return Calls.atOnce(calls, Duration.ofMinutes(5));
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
