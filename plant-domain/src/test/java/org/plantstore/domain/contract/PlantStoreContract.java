package org.plantstore.domain.contract;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.contract.Call.Form;

/**
 * Tests a {@link PlantStore} against its rules R1 to R9, in its blocking and in its asynchronous
 * form. The name of each test begins with its rule. The test of a store extends this class:
 *
 * <pre>{@code
 * class SqlitePlantStoreTest extends PlantStoreContract {
 *
 *   @TempDir Path folder; // a new one for each test, so that each has an empty store
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
 * <p>Each test needs an empty store, and calls it from threads of its own. Only {@link #store()} is
 * required. Where a method that another test needs is not overridden, that test is aborted: JUnit
 * does not report it as passed, and the last line of the output names the rules that were not
 * shown.
 *
 * <p>A store whose database can be reached has to wait when concurrent calls conflict. If it throws
 * {@link org.plantstore.domain.PlantStoreUnavailableException} instead, the tests of R3 and R8
 * fail.
 *
 * <p>A run makes 10,900 calls, which store 4,200 plants, some of them with megabytes of text. It
 * takes about 2 s if the store is a map, and about 9 s if a call takes 1 ms, plus the time for
 * crashes and for calls of an unreachable store. JUnit Jupiter 5.10 or later is required.
 *
 * <p>The protected methods are called in the thread of the test, which may differ between tests.
 */
public abstract class PlantStoreContract {

  private static final int MANY = 16;

  /**
   * Most races are between two calls, since more callers than processors seldom meet. A race that a
   * store leaves open for 50 µs, less than a round trip to a database, is lost nearly every time.
   */
  private static final int RACES_OF_TWO = 100;

  private static final int RACES_OF_MANY = 20;

  /**
   * More callers than a pool usually has connections, and more plants than a cache has room for.
   */
  private static final int CALLERS = 32;

  private static final int ROUNDS_OF_CALLERS = 40;

  /** With that of {@link #emptyStore} a prime: a group of plants is left unfinished. */
  private static final int PLANTS_BEFORE_CRASH = 100;

  /** Likewise, 101 + 6 * 8 = 149 plants and 101 + 6 * 16 = 197 calls are primes. */
  private static final int ROUNDS_BEFORE_CRASH = 6;

  private static final int INTERRUPTS = 50;

  /** Begins the name of a plant that each test stores first. */
  private static final String MARK = "mark of a test ";

  /** What the tests of a store, which may run beside those of others, have not shown. */
  private static final Map<Class<?>, Set<String>> NOT_SHOWN = new ConcurrentHashMap<>();

  @Retention(RetentionPolicy.RUNTIME)
  @ParameterizedTest(name = "{displayName} {0}")
  @EnumSource
  private @interface InBothForms {}

  /** Constructor for subclasses. */
  protected PlantStoreContract() {}

  /** {@return the store under test, which is empty} Each test calls this once. */
  protected abstract PlantStore store();

  /**
   * {@return another instance on the database of {@link #store()}} It stands for a second process.
   * If this is not overridden, the test of R3 through two instances is aborted.
   */
  protected PlantStore anotherStore() {
    return notShown("R3 through two instances", "anotherStore()");
  }

  /**
   * Crashes and restarts whatever would lose plants that are not durable (the database server, or
   * the process that holds them), and returns a new instance on the remaining data. The crash must
   * leave no chance to write anything more. If this is not overridden, the test of R4 is aborted.
   *
   * <p>All calls have ended before the crash. {@link PlantStoreCrashContract} tests crashes during
   * calls, such as while one waits until the plant of another is durable.
   *
   * @return the store after the crash
   */
  protected PlantStore storeAfterCrash() {
    return notShown("R4", "storeAfterCrash()");
  }

  /**
   * {@return a store that cannot reach its database} Its server may be stopped, for instance, while
   * that of {@link #store()} can be reached. If this is not overridden, the test of R7 is aborted.
   */
  protected PlantStore unreachableStore() {
    return notShown("R7", "unreachableStore()");
  }

  /**
   * {@return the address of the database's server, if it has one} The kit puts a proxy in front of
   * it, which falls silent, refuses connections, and forwards again.
   */
  protected InetSocketAddress server() {
    notShown("R7 with a silent server", "server() and storeThrough(InetSocketAddress)");
    return new InetSocketAddress(0); // never
  }

  /**
   * {@return a new instance on the database of {@link #store()}, which connects to a proxy in place
   * of the server} If this and {@link #server()} are not overridden, the test of R7 with a silent
   * server is aborted.
   *
   * @param proxy the address of the proxy
   */
  protected PlantStore storeThrough(InetSocketAddress proxy) {
    return notShown("R7 with a silent server", "server() and storeThrough(InetSocketAddress)");
  }

  private PlantStore notShown(String rule, String methods) {
    String remedy = ": override " + methods + " to show it";
    NOT_SHOWN.computeIfAbsent(getClass(), test -> new ConcurrentSkipListSet<>()).add(rule + remedy);
    return abort(rule + " is not shown" + remedy);
  }

  /** Reports seldom tell why a test was aborted. */
  @AfterAll
  static void printWhatIsNotShown(TestInfo test) {
    Class<?> store = test.getTestClass().orElseThrow();
    Set<String> rules = NOT_SHOWN.remove(store);
    if (rules != null) {
      System.out.println(store.getSimpleName() + " has not shown " + String.join("; ", rules));
    }
  }

  /**
   * {@return the time limit of a call, 60 seconds by default} A call that exceeds it fails its
   * test. Calls that are made at once, at most 32, all have to end within this time from their
   * common start, also if the store serves one after the other.
   */
  protected Duration timeLimit() {
    return Duration.ofSeconds(60);
  }

  @InBothForms
  void r1_a_free_id_is_stored_and_an_equal_plant_is_returned(Form form) {
    List<NewPlant> alike =
        List.of(
            new NewPlant(1, "r1 fern", "shade"),
            new NewPlant(2, "r1 fern", "shade"),
            new NewPlant(3, "r1 fern", null),
            new NewPlant(4, "r1 fern in shade", "shade"));

    check("R1", form).assertStores(alike, emptyStore());
  }

  @InBothForms
  void r2_a_taken_id_changes_nothing_and_the_stored_plant_is_returned(Form form) {
    RuleCheck r2 = check("R2", form);
    PlantStore store = emptyStore();
    NewPlant fern = new NewPlant(1, "r2 fern", "shade");
    NewPlant moss = new NewPlant(2, "r2 moss", null);
    for (NewPlant plant : List.of(fern, moss)) {
      r2.put(store, plant, "for a free id");
      for (String name : List.of(plant.name(), "r2 ivy", "")) {
        for (String tag : Arrays.asList("shade", "sun", "", "null", null)) {
          NewPlant rival = new NewPlant(plant.id(), name, tag);
          r2.assertReturns(plant, store, rival, "for a taken id");
        }
      }
    }
    r2.assertStored(fern, store, "for a taken id");
    r2.assertStored(moss, store, "for a taken id");
    long id = 3;
    for (List<String> alike : UnusualValues.ALIKE) {
      for (String text : alike) {
        NewPlant plant = new NewPlant(id++, text, text);
        r2.put(store, plant, "for a free id");
        for (String other : alike) {
          r2.assertReturns(plant, store, new NewPlant(plant.id(), other, text), "for a taken id");
          r2.assertReturns(plant, store, new NewPlant(plant.id(), text, other), "for a taken id");
        }
      }
    }
    for (String separator : List.of("", " ", "|", ",", ";", ":", "\t", "\n")) {
      NewPlant plant = new NewPlant(id++, "a" + separator + "b", "c");
      r2.put(store, plant, "for a free id");
      NewPlant joined = new NewPlant(plant.id(), "a", "b" + separator + "c");
      r2.assertReturns(plant, store, joined, "for a taken id");
    }
  }

  @InBothForms
  void r3_of_concurrent_calls_one_wins_and_every_call_returns_the_winner(Form form) {
    assertOneWins(form, List.of(emptyStore()));
  }

  @InBothForms
  void r3_of_concurrent_calls_through_two_instances_one_wins(Form form) {
    assertOneWins(form, List.of(emptyStore(), anotherStore()));
  }

  private void assertOneWins(Form form, List<PlantStore> instances) {
    RuleCheck r3 = check("R3", form);
    for (int race = 1; race <= RACES_OF_TWO + RACES_OF_MANY; race++) {
      List<Call> calls = new ArrayList<>();
      for (int rival = 0; rival < (race <= RACES_OF_TWO ? 2 : MANY); rival++) {
        // Asynchronous calls also race with blocking ones.
        RuleCheck turn =
            form == Form.ASYNCHRONOUS && rival % 2 == 1 ? check("R3", form.other()) : r3;
        PlantStore instance = instances.get(rival % instances.size());
        calls.add(turn.call(instance, rival(race, rival), "together with others"));
      }
      NewPlant winner = r3.assertOneWins(calls);
      for (PlantStore instance : instances) {
        r3.assertStored(winner, instance, "for an id that one of concurrent calls took");
      }
    }
  }

  /** Returns a plant of a race: a store may treat some ids and texts, and equal rivals, apart. */
  private static NewPlant rival(int race, int caller) {
    long id = (race % 2 == 0 ? 1 : -1) * (1_000L + race); // Java shares small ids
    String text = "x".repeat(race % 5 == 0 ? 10_000 : 1);
    int rival = race % 7 == 0 ? 0 : caller;
    String tag = race % 3 == 0 ? null : "tag " + rival;
    return new NewPlant(id, "r3 rival " + rival + " for id " + id + " " + text, tag);
  }

  @InBothForms
  void r4_returned_plant_survives_a_crash(Form form) {
    RuleCheck r4 = check("R4", form);
    PlantStore store = emptyStore();
    Set<NewPlant> returned = new LinkedHashSet<>();

    for (NewPlant plant : plantsBeforeCrash()) {
      NewPlant stored = r4.put(store, plant, "for a free id");
      if (stored != null) {
        returned.add(stored);
      }
    }
    // Last, because a later single call may write the plants that concurrent calls left unwritten.
    for (int round = 0; round < ROUNDS_BEFORE_CRASH; round++) {
      // Large ones last, because a later small one may write what a large one left unwritten.
      String tag = round == ROUNDS_BEFORE_CRASH - 1 ? "x".repeat(1 << 18) : "";
      returned.addAll(r4.returnedAtOnce(rivalsInPairs(r4, store, 1_000 + round * MANY, tag)));
    }

    PlantStore afterCrash = storeAfterCrash();

    // Ids that equal earlier ones in their last bits.
    long first = (1L << 20) + 100;
    r4.assertStores(plants("r4", LongStream.range(first, first + PLANTS_BEFORE_CRASH)), afterCrash);
    for (NewPlant plant : returned) {
      r4.assertStored(plant, afterCrash, "after a crash, for an id that was taken before it");
    }
  }

  /** Returns unusual plants too: a store may return text from memory that its disk has changed. */
  private static List<NewPlant> plantsBeforeCrash() {
    List<NewPlant> plants = new ArrayList<>(plants("r4", UnusualValues.ids()));
    plants.add(new NewPlant(100, "r4 no tag", null));
    for (String text : UnusualValues.TEXTS) {
      plants.add(new NewPlant(100 + plants.size(), text, text));
    }
    plants.addAll(plants("r4", LongStream.range(100 + plants.size(), 100 + PLANTS_BEFORE_CRASH)));
    return plants;
  }

  private static List<Call> rivalsInPairs(
      RuleCheck r4, PlantStore store, long firstId, String tag) {
    List<Call> calls = new ArrayList<>();
    for (int caller = 0; caller < MANY; caller++) {
      long id = firstId + caller / 2;
      NewPlant rival = new NewPlant(id, "r4 rival " + caller % 2 + " for id " + id, tag);
      calls.add(r4.call(store, rival, "together with others"));
    }
    return calls;
  }

  @InBothForms
  void r5_text_is_kept_exactly(Form form) {
    List<NewPlant> plants = new ArrayList<>();
    plants.add(new NewPlant(1, "r5 no tag", null));
    plants.add(new NewPlant(2, "r5 empty tag", ""));
    plants.add(new NewPlant(3, "", "r5 empty name"));
    plants.add(new NewPlant(4, "", null));
    plants.add(new NewPlant(5, "x".repeat(1 << 17), null));
    for (String text : UnusualValues.TEXTS) {
      plants.add(new NewPlant(plants.size() + 1, text, text));
    }

    check("R5", form).assertStores(plants, emptyStore());
  }

  @InBothForms
  void r6_every_long_is_an_id(Form form) {
    check("R6", form).assertStores(plants("r6", UnusualValues.ids()), emptyStore());
  }

  @InBothForms
  void r7_a_failure_shows_that_trying_again_can_help_and_trying_again_is_safe(Form form) {
    RuleCheck r7 = check("R7", form);
    PlantStore store = emptyStore();
    NewPlant stored = new NewPlant(MANY + 1, "r7 stored plant", "tag");
    r7.put(store, stored, "for a free id");
    NewPlant rival = new NewPlant(MANY + 1, "r7 rival", null);
    PlantStore unreachable = unreachableStore();
    List<NewPlant> plants = plants("r7", LongStream.rangeClosed(1, MANY));

    // First one call, then many at once: a store may fail differently after its first failure.
    r7.assertUnavailable(List.of(rival), unreachable, "where the store is unreachable");
    r7.assertUnavailable(plants, unreachable, "where the store is unreachable");

    r7.assertStored(stored, store, "for an id that was taken before a call for it failed");
    for (NewPlant plant : plants) {
      r7.put(store, plant, "again, where the store is reachable");
      r7.assertStored(plant, store, "after the plant with this id was tried again");
    }
  }

  @InBothForms
  void r7_a_silent_server_and_one_that_was_away_are_no_end(Form form) throws IOException {
    RuleCheck r7 = check("R7", form);
    PlantStore store = emptyStore();
    try (Proxy proxy = new Proxy(server())) {
      PlantStore behind = storeThrough(proxy.address());
      List<NewPlant> plants = plants("r7", LongStream.rangeClosed(1, MANY));
      r7.assertAvailableAgain(new NewPlant(0, "r7 first", null), behind, "through a proxy");

      proxy.become(Proxy.State.SILENT);
      r7.assertUnavailable(plants, behind, "while the server is silent");
      if (form == Form.ASYNCHRONOUS) {
        r7.assertDoesNotBlock(plants, behind, "while the server is silent");
      }
      proxy.become(Proxy.State.FORWARDING);
      r7.assertAvailableAgain(plants.get(0), behind, "after the server was silent");

      proxy.become(Proxy.State.REFUSING);
      // Others, since a store may return plants that it knows to be durable.
      List<NewPlant> others = plants("r7", LongStream.rangeClosed(MANY + 1, 2 * MANY));
      r7.assertUnavailable(others, behind, "while the server refuses connections");
      proxy.become(Proxy.State.FORWARDING);
      for (NewPlant plant : plants("r7", LongStream.rangeClosed(1, 2 * MANY))) {
        r7.assertAvailableAgain(plant, behind, "after the server refused connections");
        r7.assertStored(plant, store, "after the plant with this id was tried again");
      }
    }
  }

  @Test
  void r7_an_interrupt_permits_a_retry_and_remains() {
    RuleCheck r7 = check("R7", Form.BLOCKING);
    PlantStore store = emptyStore();
    // Long enough that an interrupt also comes during a write; every other comes before its call.
    String tag = "x".repeat(1 << 16);
    for (int id = 0; id < INTERRUPTS; id++) {
      NewPlant plant = new NewPlant(id, "r7 plant " + id, tag);
      r7.assertOutlivesInterrupt(plant, store, Duration.ofNanos(id % 2 * 20_000L * id));
      r7.assertReturns(plant, store, plant, "again, after an interrupt");
      r7.assertStored(plant, store, "after an interrupt and another call");
    }
  }

  @Test
  void r7_a_call_that_an_executor_rejects_fails_by_its_stage() {
    RuleCheck r7 = check("R7", Form.ASYNCHRONOUS);
    PlantStore store = emptyStore();
    NewPlant plant = new NewPlant(1, "r7 rejected", null);
    r7.assertReportsRejection(plant, store);
    r7.assertStores(List.of(plant), store);
  }

  @InBothForms
  void r8_many_threads_use_one_store(Form form) {
    RuleCheck r8 = check("R8", form);
    PlantStore store = emptyStore();
    List<NewPlant> plants = plants("r8", LongStream.rangeClosed(1, CALLERS * ROUNDS_OF_CALLERS));

    for (int round = 0; round < ROUNDS_OF_CALLERS; round++) {
      r8.assertReturnsAtOnce(
          plants.subList(round * CALLERS, (round + 1) * CALLERS), store, "in one of many threads");
    }
    for (NewPlant plant : plants) {
      r8.assertStored(plant, store, "for an id that one of many threads took");
    }
  }

  @Test
  void r8_a_call_that_is_cancelled_takes_no_other_with_it() {
    RuleCheck r8 = check("R8", Form.ASYNCHRONOUS);
    PlantStore store = emptyStore();
    for (NewPlant plant : plants("r8", LongStream.rangeClosed(1, CALLERS))) {
      r8.assertOutlivesCancellation(plant, store);
    }
  }

  @InBothForms
  void r9_null_is_refused(Form form) {
    RuleCheck r9 = check("R9", form);
    PlantStore store = emptyStore();
    r9.assertRefusesNull(store);
    r9.assertStores(plants("r9", LongStream.of(1)), store);
  }

  /** Returns the store under test, and finds plants of an earlier test, which look like faults. */
  private PlantStore emptyStore() {
    PlantStore store = store();
    NewPlant mark = new NewPlant(1L << 50, MARK + System.nanoTime() + ";", null);
    Call call = new Call(Form.BLOCKING, store, mark, null, "for a free id");
    NewPlant found = Call.atOnce(List.of(call), timeLimit()).get(0).returned();
    String name = found == null ? "" : found.name(); // a test will find that the store changes it
    if (!name.equals(mark.name()) && name.matches(MARK + "-?\\d+;")) {
      throw new IllegalStateException(
          "the store was not empty: store() must return an empty one for each test, but this one"
              + " has the plant of an earlier test: "
              + Description.of(found));
    }
    return store;
  }

  private RuleCheck check(String rule, Form form) {
    return new RuleCheck(rule, form, timeLimit());
  }

  private static List<NewPlant> plants(String rule, LongStream ids) {
    return ids.mapToObj(id -> new NewPlant(id, rule + " plant " + id, "tag " + id)).toList();
  }
}
