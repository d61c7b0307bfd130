package org.plantstore.domain.contract;

import static org.junit.jupiter.api.Assumptions.abort;
import static org.plantstore.domain.contract.Rule.R1;
import static org.plantstore.domain.contract.Rule.R2;
import static org.plantstore.domain.contract.Rule.R3;
import static org.plantstore.domain.contract.Rule.R4;
import static org.plantstore.domain.contract.Rule.R5;
import static org.plantstore.domain.contract.Rule.R6;
import static org.plantstore.domain.contract.Rule.R7;
import static org.plantstore.domain.contract.Rule.R8;
import static org.plantstore.domain.contract.Rule.R9;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;

/**
 * The rules R1 to R9 of {@link PlantStore} as tests, each with the number of its rule in its name.
 * Whoever writes a store extends this class, and has a store that the rest of the world can rely on
 * when every test passes:
 *
 * <pre>{@code
 * class SqlitePlantStoreTest extends PlantStoreContract {
 *
 *   @TempDir Path folder; // a new one for each test, so that each finds an empty store
 *
 *   @Override
 *   protected PlantStore store() {
 *     return new SqlitePlantStore(folder.resolve("plants.db"));
 *   }
 *
 *   @Override
 *   protected PlantStore anotherStore() {
 *     return store();
 *   }
 * }
 * }</pre>
 *
 * <p>Every test must find an empty store, and calls it from threads of its own. Only {@link
 * #store()} has to be there. A test that needs more is aborted where that is not overridden: JUnit
 * reports it as such, not as passed, because nothing was shown.
 *
 * <p>A store whose database can be reached waits where calls are in each other's way: if it says
 * instead that it is unavailable, the tests of R3 and R8 fail.
 *
 * <p>A run makes 3,600 calls, which store 1,100 plants, some of them with megabytes of text. It
 * takes less than a second if the store is a map, and about 4 s if a call takes 1 ms; crashing and
 * reaching nothing take their time besides. Needs JUnit Jupiter, 5.10 or later, and nothing else.
 *
 * <p>The methods below are called in the thread of the test, which may be another for each test.
 */
public abstract class PlantStoreContract {

  private static final int MANY = 16;

  /** Mostly two, as few as a race needs: more callers than processors wait for each other. */
  private static final int RACES_OF_TWO = 200;

  private static final int RACES_OF_MANY = 20;
  private static final int ROUNDS_OF_MANY = 25;

  /**
   * A prime, so that a store that writes plants in groups of any size has an unfinished group. So
   * it has after the rounds: 197 plants and 293 calls are primes, too.
   */
  private static final int PLANTS_BEFORE_CRASH = 101;

  private static final int ROUNDS_BEFORE_CRASH = 12;

  private static final long[] UNUSUAL_IDS = {
    Long.MIN_VALUE,
    Long.MIN_VALUE + 1,
    Integer.MIN_VALUE - 1L,
    -1,
    0,
    1,
    Integer.MAX_VALUE + 1L,
    1L << 53,
    (1L << 53) + 1,
    Long.MAX_VALUE - 1,
    Long.MAX_VALUE
  };

  /** Makes the tests. */
  protected PlantStoreContract() {}

  /**
   * Answers the store under test, which is empty. Each test calls this once.
   *
   * @return the store
   */
  protected abstract PlantStore store();

  /**
   * Answers another instance on the database of {@link #store()}, as a second process would have
   * one. Unless it is overridden, the test of R3 through two instances is aborted.
   *
   * @return another instance than that of {@link #store()}
   * @throws org.opentest4j.TestAbortedException if it is not overridden
   */
  protected PlantStore anotherStore() {
    return abort("R3 is not shown through two instances: override anotherStore() to show it");
  }

  /**
   * Crashes what would lose plants that are not durable yet (the database server, or the process
   * that keeps them) without a chance to write anything more, starts it again, and answers a new
   * instance on what is left. Unless it is overridden, the test of R4 is aborted.
   *
   * <p>Every call has ended by then. That a store also keeps R4 if the crash comes in the middle of
   * calls, such as while one waits for the plant of another to be written, is not shown.
   *
   * @return the store after the crash
   * @throws org.opentest4j.TestAbortedException if it is not overridden
   */
  protected PlantStore storeAfterCrash() {
    return abort("R4 is not shown: override storeAfterCrash() to show it");
  }

  /**
   * Answers a store that cannot reach its database now, but may later, such as one whose server was
   * stopped. Meanwhile that of {@link #store()} can be reached. Unless it is overridden, the test
   * of R7 is aborted.
   *
   * @return a store whose calls fail
   * @throws org.opentest4j.TestAbortedException if it is not overridden
   */
  protected PlantStore unreachableStore() {
    return abort("R7 is not shown: override unreachableStore() to show it");
  }

  /**
   * Answers how long a call may take; one that takes longer is taken for one that hangs, and fails
   * its test. Of calls that are made at once, 16 at most, all have to end within this time from
   * their common start: the time has to be enough for all of them, also where a store serves one
   * after the other.
   *
   * @return a positive time, 60 seconds unless it is overridden
   */
  protected Duration timeLimit() {
    return Duration.ofSeconds(60);
  }

  @Test
  void r1_a_free_id_is_stored_and_an_equal_plant_is_answered() throws InterruptedException {
    RuleCheck r1 = check(R1);
    PlantStore store = store();
    List<NewPlant> alike =
        List.of(
            new NewPlant(1, "r1 fern", "shade"),
            new NewPlant(2, "r1 fern", "shade"),
            new NewPlant(3, "r1 fern", null));

    for (NewPlant plant : alike) {
      r1.assertAnswers(plant, store, plant, "for a free id");
    }
    for (NewPlant plant : alike) {
      r1.assertHolds(plant, store, "for an id that was free before");
    }
  }

  @Test
  void r2_a_taken_id_changes_nothing_and_the_stored_plant_is_answered()
      throws InterruptedException {
    RuleCheck r2 = check(R2);
    PlantStore store = store();
    NewPlant fern = new NewPlant(1, "r2 fern", "shade");
    NewPlant moss = new NewPlant(2, "r2 moss", null);
    r2.put(store, fern, "for a free id");
    r2.put(store, moss, "for a free id");

    for (NewPlant plant :
        List.of(
            fern,
            new NewPlant(1, "r2 ivy", "shade"),
            new NewPlant(1, "r2 fern", "sun"),
            new NewPlant(1, "r2 fern", ""),
            new NewPlant(1, "r2 fern", null),
            new NewPlant(1, "", null))) {
      r2.assertAnswers(fern, store, plant, "for a taken id");
    }
    for (NewPlant plant :
        List.of(moss, new NewPlant(2, "r2 moss", "sun"), new NewPlant(2, "r2 moss", ""))) {
      r2.assertAnswers(moss, store, plant, "for a taken id");
    }
    r2.assertHolds(fern, store, "for a taken id");
    r2.assertHolds(moss, store, "for a taken id");
  }

  @Test
  void r3_of_concurrent_calls_one_wins_and_every_call_answers_the_winner()
      throws InterruptedException {
    assertOneWins(List.of(store()));
  }

  @Test
  void r3_of_concurrent_calls_through_two_instances_one_wins() throws InterruptedException {
    assertOneWins(List.of(store(), anotherStore()));
  }

  private void assertOneWins(List<PlantStore> instances) throws InterruptedException {
    RuleCheck r3 = check(R3);
    for (long id = 1; id <= RACES_OF_TWO + RACES_OF_MANY; id++) {
      List<Call> calls = new ArrayList<>();
      for (int rival = 0; rival < (id <= RACES_OF_TWO ? 2 : MANY); rival++) {
        calls.add(
            new Call(
                instances.get(rival % instances.size()),
                new NewPlant(id, "r3 rival " + rival + " for id " + id, "tag " + rival),
                "together with others"));
      }
      NewPlant winner = r3.assertOneWins(calls);
      for (PlantStore instance : instances) {
        r3.assertHolds(winner, instance, "for an id that one of concurrent calls took");
      }
    }
  }

  @Test
  void r4_what_was_answered_survives_a_crash() throws InterruptedException {
    RuleCheck r4 = check(R4);
    PlantStore store = store();
    Set<NewPlant> answered = new LinkedHashSet<>();

    for (NewPlant plant : plantsBeforeCrash()) {
      NewPlant answer = r4.put(store, plant, "for a free id");
      if (answer != null) {
        answered.add(answer);
      }
    }
    // Last, because a call that is alone may write what the calls before it have left unwritten.
    for (int round = 0; round < ROUNDS_BEFORE_CRASH; round++) {
      answered.addAll(r4.answersAtOnce(rivalsInPairs(store, 1_000 + round * MANY)));
    }

    PlantStore afterCrash = storeAfterCrash();

    for (NewPlant plant : answered) {
      r4.assertHolds(plant, afterCrash, "after a crash, for an id that was taken before it");
    }
  }

  /** Unusual ones, because a store can answer exactly from memory what its disk has changed. */
  private static List<NewPlant> plantsBeforeCrash() {
    List<NewPlant> plants = new ArrayList<>();
    for (long id : UNUSUAL_IDS) {
      plants.add(new NewPlant(id, "r4 plant " + id, null));
    }
    for (String text : UnusualTexts.SHORT) {
      plants.add(new NewPlant(100 + plants.size(), text, text));
    }
    while (plants.size() < PLANTS_BEFORE_CRASH) {
      long id = 100L + plants.size();
      plants.add(new NewPlant(id, "r4 plant " + id, "tag " + id));
    }
    return plants;
  }

  /** Makes calls with two rivals for each id. */
  private static List<Call> rivalsInPairs(PlantStore store, long firstId) {
    List<Call> calls = new ArrayList<>();
    for (int caller = 0; caller < MANY; caller++) {
      long id = firstId + caller / 2;
      NewPlant rival = new NewPlant(id, "r4 rival " + caller % 2 + " for id " + id, null);
      calls.add(new Call(store, rival, "together with others"));
    }
    return calls;
  }

  @Test
  void r5_text_is_kept_exactly() throws InterruptedException {
    RuleCheck r5 = check(R5);
    PlantStore store = store();
    List<NewPlant> plants = new ArrayList<>();
    plants.add(new NewPlant(1, "r5 no tag", null));
    plants.add(new NewPlant(2, "r5 empty tag", ""));
    plants.add(new NewPlant(3, "", "r5 empty name"));
    plants.add(new NewPlant(4, "", null));
    for (String text : UnusualTexts.ALL) {
      plants.add(new NewPlant(plants.size() + 1, text, text));
    }

    for (NewPlant plant : plants) {
      r5.assertAnswers(plant, store, plant, "for a free id");
      r5.assertHolds(plant, store, "for a taken id");
    }
  }

  @Test
  void r6_every_long_is_an_id() throws InterruptedException {
    RuleCheck r6 = check(R6);
    PlantStore store = store();
    List<NewPlant> plants =
        LongStream.of(UNUSUAL_IDS)
            .mapToObj(id -> new NewPlant(id, "r6 plant " + id, null))
            .toList();

    for (NewPlant plant : plants) {
      r6.assertAnswers(plant, store, plant, "for a free id");
    }
    for (NewPlant plant : plants) {
      r6.assertHolds(plant, store, "for a taken id");
    }
  }

  @Test
  void r7_a_failure_says_that_trying_again_can_help_and_trying_again_is_safe()
      throws InterruptedException {
    RuleCheck r7 = check(R7);
    PlantStore store = store();
    NewPlant held = new NewPlant(MANY + 1, "r7 held plant", "tag");
    r7.put(store, held, "for a free id");
    NewPlant rival = new NewPlant(MANY + 1, "r7 rival", null);
    PlantStore unreachable = unreachableStore();
    List<NewPlant> plants =
        LongStream.rangeClosed(1, MANY)
            .mapToObj(id -> new NewPlant(id, "r7 plant " + id, "tag " + id))
            .toList();

    // One alone, then many together: what fails as it should once may do otherwise afterwards.
    r7.assertUnavailable(List.of(rival), unreachable, "where the store is unreachable");
    r7.assertUnavailable(plants, unreachable, "where the store is unreachable");

    r7.assertHolds(held, store, "for an id that was taken before a call for it failed");
    for (NewPlant plant : plants) {
      r7.put(store, plant, "again, where the store is reachable");
      r7.assertHolds(plant, store, "after the plant with this id was tried again");
    }
  }

  @Test
  void r8_many_threads_use_one_store() throws InterruptedException {
    RuleCheck r8 = check(R8);
    PlantStore store = store();
    List<NewPlant> plants =
        LongStream.rangeClosed(1, MANY * ROUNDS_OF_MANY)
            .mapToObj(id -> new NewPlant(id, "r8 plant " + id, "tag " + id))
            .toList();

    for (int round = 0; round < ROUNDS_OF_MANY; round++) {
      r8.assertAnswersAtOnce(
          plants.subList(round * MANY, (round + 1) * MANY), store, "in one of many threads");
    }
    for (NewPlant plant : plants) {
      r8.assertHolds(plant, store, "for an id that one of many threads took");
    }
  }

  @Test
  void r9_null_is_refused() throws InterruptedException {
    check(R9).assertRefusesNull(store());
  }

  private RuleCheck check(Rule rule) {
    return new RuleCheck(rule, timeLimit());
  }
}
