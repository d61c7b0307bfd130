package org.plantstore.domain.contract;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * The rules R1 to R9 of {@link PlantStore}, one test per rule. Whoever writes a store extends this
 * class, answers the four questions below, and has a store that the rest of the world can rely on
 * when all tests pass. Needs JUnit 5 and nothing else.
 */
public abstract class PlantStoreContract {

  private static final int CALLERS = 16;
  private static final int TIMEOUT_SECONDS = 60;

  /**
   * Answers the store under test. Its database is empty at the start of each test; within one test
   * every call may answer the same store.
   */
  protected abstract PlantStore store();

  /** Answers a second instance of the store, on the database of {@link #store()}. */
  protected abstract PlantStore anotherStore();

  /**
   * Crashes whatever would lose plants that are not durable yet (the database server, or the
   * process that keeps them), starts it again, and answers a new instance of the store on what is
   * left.
   */
  protected abstract PlantStore storeAfterCrash();

  /** Answers a store that cannot reach what keeps its plants. */
  protected abstract PlantStore unreachableStore();

  @Test
  void r1_a_free_id_is_stored_and_an_equal_plant_is_answered() {
    NewPlant fern = new NewPlant(1, "fern", "shade");

    assertEquals(fern, store().putIfAbsent(fern), "R1: the answer to a free id");
    assertHolds(fern, store());
  }

  @Test
  void r2_a_taken_id_changes_nothing_and_the_stored_plant_is_answered() {
    NewPlant fern = new NewPlant(1, "fern", "shade");
    store().putIfAbsent(fern);

    assertEquals(fern, store().putIfAbsent(fern), "R2: the answer to the same plant again");
    assertEquals(
        fern,
        store().putIfAbsent(new NewPlant(1, "moss", null)),
        "R2: the answer to another plant with a taken id");
    assertHolds(fern, store());
  }

  @Test
  void r3_one_of_many_concurrent_calls_wins_and_every_call_answers_the_winner() throws Exception {
    PlantStore[] instances = {store(), anotherStore()};
    for (long id = 0; id < 20; id++) {
      List<Callable<NewPlant>> calls = new ArrayList<>();
      Set<NewPlant> candidates = new HashSet<>();
      for (int caller = 0; caller < CALLERS; caller++) {
        PlantStore instance = instances[caller % instances.length];
        NewPlant candidate = new NewPlant(id, "candidate " + caller, "tag " + caller);
        candidates.add(candidate);
        calls.add(() -> instance.putIfAbsent(candidate));
      }

      Set<NewPlant> answers = new HashSet<>(atOnce(calls));

      assertEquals(1, answers.size(), "R3: different answers for one id: " + answers);
      NewPlant winner = answers.iterator().next();
      assertTrue(candidates.contains(winner), "R3: answered what nobody put: " + winner);
      assertHolds(winner, instances[0]);
      assertHolds(winner, instances[1]);
    }
  }

  @Test
  void r4_what_was_answered_survives_a_crash() {
    List<NewPlant> answered =
        LongStream.range(0, 100)
            .mapToObj(id -> store().putIfAbsent(new NewPlant(id, "plant " + id, null)))
            .toList();

    PlantStore afterwards = storeAfterCrash();

    assertAll("R4", answered.stream().map(plant -> () -> assertHolds(plant, afterwards)));
  }

  @Test
  void r5_text_is_kept_exactly() {
    List<NewPlant> plants = new ArrayList<>();
    for (String text : unusualTexts()) {
      plants.add(new NewPlant(plants.size(), text, text));
    }
    NewPlant withoutTag = new NewPlant(plants.size(), "no tag", null);
    plants.add(withoutTag);
    NewPlant withEmptyTag = new NewPlant(plants.size(), "empty tag", "");
    plants.add(withEmptyTag);

    for (NewPlant plant : plants) {
      assertEquals(plant, store().putIfAbsent(plant), "R5: the answer when the plant is new");
      assertHolds(plant, store());
    }
    assertNull(
        store().putIfAbsent(new NewPlant(withoutTag.id(), "no tag", "")).tag(),
        "R5: an absent tag came back as a tag");
    assertEquals(
        "",
        store().putIfAbsent(new NewPlant(withEmptyTag.id(), "empty tag", null)).tag(),
        "R5: an empty tag came back as something else");
  }

  @Test
  void r6_every_long_is_an_id() {
    long[] ids = {
      Long.MIN_VALUE,
      Long.MIN_VALUE + 1,
      Integer.MIN_VALUE - 1L,
      -1,
      0,
      1,
      1L << 53,
      (1L << 53) + 1,
      Integer.MAX_VALUE + 1L,
      Long.MAX_VALUE - 1,
      Long.MAX_VALUE
    };
    List<NewPlant> plants =
        LongStream.of(ids).mapToObj(id -> new NewPlant(id, "plant " + id, null)).toList();

    for (NewPlant plant : plants) {
      assertEquals(plant, store().putIfAbsent(plant), "R6: the answer for id " + plant.id());
    }
    for (NewPlant plant : plants) {
      assertHolds(plant, store());
    }
  }

  @Test
  void r7_a_failure_says_that_trying_again_can_help_and_trying_again_is_safe() {
    NewPlant fern = new NewPlant(1, "fern", "shade");
    PlantStore unreachable = unreachableStore();

    PlantStoreUnavailableException failure =
        assertThrows(
            PlantStoreUnavailableException.class,
            () -> unreachable.putIfAbsent(fern),
            "R7: an unreachable store");

    assertNull(failure.getCause(), "R7: the store's technology leaked as a cause");
    assertEquals(fern, store().putIfAbsent(fern), "R7: trying again");
    assertEquals(fern, store().putIfAbsent(fern), "R7: trying again once more");
  }

  @Test
  void r8_many_threads_use_one_store() throws Exception {
    PlantStore shared = store();
    List<NewPlant> plants =
        LongStream.range(0, 50L * CALLERS)
            .mapToObj(id -> new NewPlant(id, "plant " + id, "tag " + id))
            .toList();
    List<Callable<List<NewPlant>>> calls =
        IntStream.range(0, CALLERS)
            .<Callable<List<NewPlant>>>mapToObj(caller ->
                () ->
                    plants.stream()
                        .filter(plant -> plant.id() % CALLERS == caller)
                        .map(shared::putIfAbsent)
                        .toList())
            .toList();

    Set<NewPlant> answers = new HashSet<>();
    atOnce(calls).forEach(answers::addAll);

    assertEquals(new HashSet<>(plants), answers, "R8: the answers of " + CALLERS + " threads");
    assertAll("R8", plants.stream().map(plant -> () -> assertHolds(plant, shared)));
  }

  @Test
  @SuppressWarnings("NullAway") // null is what this test is about
  void r9_null_is_refused() {
    assertThrows(NullPointerException.class, () -> store().putIfAbsent(null), "R9");
  }

  /** Asserts what is held by trying to take the id with another plant, which R2 forbids. */
  private static void assertHolds(NewPlant expected, PlantStore store) {
    NewPlant rival = new NewPlant(expected.id(), expected.name() + " rival", "rival");
    assertEquals(expected, store.putIfAbsent(rival), "what the store holds under the id");
  }

  private static <T> List<T> atOnce(List<Callable<T>> calls) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(calls.size());
    try {
      CyclicBarrier start = new CyclicBarrier(calls.size());
      List<Future<T>> futures = new ArrayList<>();
      for (Callable<T> call : calls) {
        futures.add(
            threads.submit(() -> {
              start.await(TIMEOUT_SECONDS, SECONDS);
              return call.call();
            }));
      }
      List<T> answers = new ArrayList<>();
      for (Future<T> future : futures) {
        answers.add(future.get(TIMEOUT_SECONDS, SECONDS));
      }
      return answers;
    } finally {
      threads.shutdownNow();
    }
  }

  private static List<String> unusualTexts() {
    String controls =
        IntStream.rangeClosed(0x01, 0x1F)
            .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
            .toString();
    return Stream.of(
            "",
            " ",
            "  leading and trailing  ",
            "\ttabs\r\nand\nline breaks\r",
            controls,
            "\u007F\u0080\u009F",
            "\u00E9 composed, e\u0301 decomposed, \u212B and \u00C5",
            "\u200B\u200E\u202E\u2066\uFEFF",
            "\uE000\uFDD0\uFFFD\uFFFE\uFFFF",
            "\uD83C\uDF3F \uD800\uDC00 \uDBFF\uDFFF",
            "null",
            "NULL",
            "\\N \\u0000 \\x00 \\",
            "'; DROP TABLE plant; --",
            "{\"name\":\"%s ? $1 :name\"}",
            "x".repeat(1 << 20),
            "\uD83C\uDF3F".repeat(1 << 18))
        .toList();
  }
}
