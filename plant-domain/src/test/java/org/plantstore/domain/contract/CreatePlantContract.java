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
 * Tests an implementation of {@link CreatePlant}. Every implementation must produce the same
 * outcomes in the blocking and in the asynchronous form. To test an implementation, extend this
 * class.
 *
 * <p>Each test needs an empty store. A run makes about 2,000 calls, some of which contain 1 MiB of
 * text.
 */
public abstract class CreatePlantContract {

  private static final int CALLERS = 32;
  private static final int ROUNDS = 20;
  private static final String TAKEN = "the id is taken";

  /** Creates an instance. Subclasses call this constructor. */
  protected CreatePlantContract() {}

  /**
   * {@return the implementation under test, with an empty store} Each test calls this method once.
   */
  protected abstract CreatePlant createPlant();

  /**
   * {@return an implementation whose store is unavailable} By default, this method aborts the test
   * that calls it.
   */
  protected CreatePlant unavailable() {
    return abort("An unavailable store was not tested. Override unavailable() to test this case.");
  }

  @Test
  void taken_id_is_rejected_and_nothing_changes() {
    CreatePlant createPlant = createPlant();
    for (List<NewPlant> similar : Plants.similar(1 << 20)) {
      NewPlant plant = similar.get(0);
      for (NewPlant other : similar) {
        Object expected = other.equals(plant) ? plant.plant() : TAKEN;
        assertOutcome(expected, createPlant, Form.of(plant.id()), other);
      }
    }
  }

  @Test
  void concurrent_calls_for_one_id_create_exactly_one_plant() {
    CreatePlant createPlant = createPlant();
    for (int race = 1; race <= ROUNDS; race++) {
      List<NewPlant> rivals = new ArrayList<>();
      for (int rival = 0; rival < CALLERS; rival++) {
        rivals.add(Plants.rival(race, rival % (race % 4 + 1)));
      }
      List<Object> outcomes = concurrentOutcomes(createPlant, rivals);
      Object winner = outcomes.stream().filter(Plant.class::isInstance).findFirst().orElseThrow();
      assertEquals(
          rivals.stream().map(rival -> rival.plant().equals(winner) ? winner : TAKEN).toList(),
          outcomes);
    }
  }

  @Test
  void repeated_call_returns_the_same_plant() {
    CreatePlant createPlant = createPlant();
    List<NewPlant> plants = new ArrayList<>(Plants.withBoundaryIds()); // every long is a valid id
    plants.addAll(List.of(Plants.rival(2, 1), Plants.rival(3, 1)));
    plants.addAll(Plants.unusual(1 << 20));
    for (int attempt = 0; attempt < 2; attempt++) {
      for (NewPlant plant : plants) {
        assertOutcome(plant.plant(), createPlant, Form.of(plant.id() + attempt), plant);
      }
    }
  }

  @Test
  void call_can_be_retried_if_the_store_was_unavailable() {
    CreatePlant createPlant = createPlant();
    NewPlant plant = Plants.plant(1);
    for (Form form : Form.values()) {
      Object outcome = outcome(unavailable(), form, plant);
      assertNull(assertInstanceOf(PlantStoreUnavailableException.class, outcome).getCause());
      assertOutcome(plant.plant(), createPlant, form, plant);
    }
  }

  @Test
  void many_threads_can_create_plants_and_canceling_a_call_affects_no_other_call() {
    CreatePlant createPlant = createPlant();
    for (int round = 0; round < ROUNDS; round++) {
      long first = 1 + (long) round * CALLERS;
      List<NewPlant> plants = Plants.plants(first, first + CALLERS);
      NewPlant canceled = Plants.plant(-first);
      createPlant.createAsync(canceled, Calls.CALLERS).toCompletableFuture().cancel(true);
      assertEquals(
          plants.stream().map(NewPlant::plant).toList(), concurrentOutcomes(createPlant, plants));
      assertOutcome(canceled.plant(), createPlant, Form.of(round), canceled);
    }
  }

  @Test
  @SuppressWarnings("NullAway") // this test passes null
  void null_is_rejected() {
    CreatePlant createPlant = createPlant();
    NewPlant plant = Plants.plant(1);
    assertThrows(NullPointerException.class, () -> createPlant.create(null));
    assertThrows(NullPointerException.class, () -> createPlant.createAsync(null, Runnable::run));
    assertThrows(NullPointerException.class, () -> createPlant.createAsync(plant, null));
  }

  /**
   * Makes a call. Returns the created plant, {@link #TAKEN} if the plant's id is reported as taken,
   * or the exception that the call threw.
   */
  private static Object outcome(CreatePlant createPlant, Form form, NewPlant plant) {
    Object outcome =
        Calls.outcome(() ->
            form == Form.BLOCKING
                ? createPlant.create(plant)
                : Calls.await(createPlant.createAsync(plant, Calls.CALLERS)));
    boolean isTaken = outcome instanceof PlantIdTakenException taken && taken.id() == plant.id();
    return isTaken ? TAKEN : outcome;
  }

  /** Makes concurrent calls in both forms, and returns their outcomes. */
  private static List<Object> concurrentOutcomes(CreatePlant createPlant, List<NewPlant> plants) {
    List<Callable<Object>> calls = new ArrayList<>();
    for (NewPlant plant : plants) {
      Form form = Form.of(calls.size());
      calls.add(() -> outcome(createPlant, form, plant));
    }
    return Calls.concurrently(calls, Duration.ofMinutes(5));
  }

  private static void assertOutcome(
      Object expected, CreatePlant createPlant, Form form, NewPlant plant) {
    Object outcome = outcome(createPlant, form, plant);
    if (!expected.equals(outcome)) { // assertEquals would print megabytes of text
      String shown = outcome.toString().replaceFirst("(?s)(.{300}).+", "$1...");
      Throwable cause = outcome instanceof Throwable thrown ? thrown : null;
      fail("the outcome for " + Description.of(plant, plant) + " must not be " + shown, cause);
    }
  }
}
