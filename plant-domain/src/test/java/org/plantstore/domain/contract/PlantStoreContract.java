package org.plantstore.domain.contract;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
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

  /** As few as a race needs: with more than there are processors they would wait for each other. */
  private static final int RIVALS = 2;

  private static final int CONTENDED_IDS = 2_000;
  private static final long PLANTS_PER_CALLER = 500;
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
    NewPlant moss = new NewPlant(2, "moss", null);
    store().putIfAbsent(fern);
    store().putIfAbsent(moss);

    assertEquals(fern, store().putIfAbsent(fern), "R2: the answer to the same plant again");
    for (NewPlant other :
        List.of(
            new NewPlant(1, "moss", "shade"),
            new NewPlant(1, "fern", null),
            new NewPlant(1, "fern", ""),
            new NewPlant(1, "", null))) {
      assertEquals(fern, store().putIfAbsent(other), "R2: the answer to " + other);
    }
    assertEquals(
        moss,
        store().putIfAbsent(new NewPlant(2, "moss", "sun")),
        "R2: a missing tag was filled in");
    assertHolds(fern, store());
    assertHolds(moss, store());
  }

  @Test
  void r3_one_of_many_concurrent_calls_wins_and_every_call_answers_the_winner() throws Exception {
    PlantStore[] instances = {store(), anotherStore()};
    AtomicLong arrivals = new AtomicLong();
    List<List<NewPlant>> answers =
        atOnce(
            RIVALS,
            caller -> {
              List<NewPlant> ofCaller = new ArrayList<>();
              for (long id = 0; id < CONTENDED_IDS; id++) {
                NewPlant candidate = new NewPlant(id, "candidate " + caller, "tag " + caller);
                arrivals.incrementAndGet();
                // Spinning, because threads that have to be woken do not come at the same moment.
                while (arrivals.get() < (id + 1) * RIVALS) {
                  if (Thread.interrupted()) {
                    throw new InterruptedException("a rival has failed");
                  }
                  Thread.onSpinWait();
                }
                ofCaller.add(instances[caller % instances.length].putIfAbsent(candidate));
              }
              return ofCaller;
            });

    for (int id = 0; id < CONTENDED_IDS; id++) {
      Set<NewPlant> ofId = new HashSet<>();
      for (List<NewPlant> ofCaller : answers) {
        ofId.add(ofCaller.get(id));
      }
      assertEquals(1, ofId.size(), "R3: different answers for one id: " + ofId);
      NewPlant winner = ofId.iterator().next();
      assertTrue(
          winner.id() == id && winner.name().startsWith("candidate "),
          "R3: answered what nobody put: " + winner);
      assertHolds(winner, instances[0]);
      assertHolds(winner, instances[1]);
    }
  }

  @Test
  void r4_what_was_answered_survives_a_crash() {
    List<NewPlant> answered =
        LongStream.range(0, 100)
            .mapToObj(id -> new NewPlant(id, "plant " + id, id % 3 == 0 ? null : "tag " + id % 3))
            .toList();
    for (NewPlant plant : answered) {
      assertEquals(plant, store().putIfAbsent(plant), "R4: the answer before the crash");
    }

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

    for (int attempt = 1; attempt <= 2; attempt++) {
      PlantStoreUnavailableException failure =
          assertTimeoutPreemptively(
              Duration.ofSeconds(TIMEOUT_SECONDS),
              () ->
                  assertThrows(
                      PlantStoreUnavailableException.class,
                      () -> unreachable.putIfAbsent(fern),
                      "R7: an unreachable store"));

      assertNull(failure.getCause(), "R7: the store's technology leaked as a cause");
      assertEquals(
          0, failure.getSuppressed().length, "R7: the store's technology leaked, suppressed");
    }
    assertEquals(fern, store().putIfAbsent(fern), "R7: trying again");
    assertEquals(fern, store().putIfAbsent(fern), "R7: trying again once more");
  }

  @Test
  void r8_many_threads_use_one_store() throws Exception {
    PlantStore shared = store();
    atOnce(
        CALLERS,
        caller -> {
          for (long number = 0; number < PLANTS_PER_CALLER; number++) {
            long id = number * CALLERS + caller;
            NewPlant plant = new NewPlant(id, "plant " + id, "tag " + id);
            assertEquals(plant, shared.putIfAbsent(plant), "R8: the answer to one of many threads");
          }
          return caller;
        });

    for (long id = 0; id < CALLERS * PLANTS_PER_CALLER; id++) {
      assertHolds(new NewPlant(id, "plant " + id, "tag " + id), shared);
    }
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

  /** Runs the task in as many threads, which begin when all of them are there. */
  private static <T> List<T> atOnce(int callers, TaskOfCaller<T> task) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(callers);
    try {
      CyclicBarrier start = new CyclicBarrier(callers);
      List<Future<T>> futures = new ArrayList<>();
      for (int caller = 0; caller < callers; caller++) {
        int number = caller;
        futures.add(
            threads.submit(() -> {
              start.await(TIMEOUT_SECONDS, SECONDS);
              return task.run(number);
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

  @FunctionalInterface
  private interface TaskOfCaller<T> {
    T run(int caller) throws Exception;
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
            "\uFEFFbyte order mark in front",
            "\u0085\u2028\u2029 line breaks of Unicode",
            "\u00AD\u200C\u200D invisible",
            "\uE000\uFDD0\uFFFD\uFFFE\uFFFF",
            "\uD83C\uDF3F \uD800\uDC00 \uDBFF\uDFFF",
            "null",
            "NULL",
            "\\N \\u0000 \\x00 \\",
            "'; DROP TABLE plant; --",
            "{\"name\":\"%s ? $1 :name\"}",
            "x".repeat((1 << 21) + 1),
            "\uD83C\uDF3F".repeat(1 << 18))
        .toList();
  }
}
