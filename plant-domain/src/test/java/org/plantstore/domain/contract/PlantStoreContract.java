package org.plantstore.domain.contract;

import static org.junit.jupiter.api.Assumptions.abort;
import static org.plantstore.domain.contract.Calls.CALLERS;

import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.contract.Calls.Form;
import org.plantstore.domain.contract.RuleCheck.Call;

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
 * does not report it as passed, and a line on the standard error names what was not shown.
 *
 * <p>A store whose database can be reached has to wait when concurrent calls conflict. If it throws
 * {@link org.plantstore.domain.PlantStoreUnavailableException} instead, the tests of R3 and R8
 * fail.
 *
 * <p>A run makes about 10,000 calls, which store 4,000 plants, some of them with the largest text.
 * It takes about 7 s if the store is a map, and less than 3 minutes if a call takes 10 ms, plus the
 * time for crashes and for calls of an unreachable store. Each test prints a line when it begins.
 * JUnit Jupiter 5.10 or later is required.
 *
 * <p>The protected methods are called in the thread of the test, which may differ between tests.
 */
public abstract class PlantStoreContract {

  private static final int MANY = 16;

  /**
   * Most races are between two calls, since more callers than processors seldom meet. A race that a
   * store leaves open for 50 µs, less than a round trip to a database, is lost nearly every time.
   */
  private static final int RACES_OF_TWO = 60;

  private static final int RACES_OF_MANY = 20;

  /** Calls of an unreachable store, each of which may wait for the one before. */
  private static final int UNREACHABLE = 8;

  /**
   * More callers than a pool usually has connections, and more plants than a cache has room for.
   */
  private static final int CALLERS_AT_ONCE = 32;

  private static final int ROUNDS_OF_CALLERS = 40;

  /** With that of {@link #emptyStore} a prime: a group of plants is left unfinished. */
  private static final int PLANTS_BEFORE_CRASH = 100;

  /** Likewise, 101 + 6 * 8 = 149 plants and 101 + 6 * 16 = 197 calls are primes. */
  private static final int ROUNDS_BEFORE_CRASH = 6;

  private static final int INTERRUPTS = 50;

  /** Longer than what a store may take for a time to live by mistake. */
  private static final Duration IDLE = Duration.ofSeconds(5);

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
    String message = rule + " is not shown: override " + methods + " to show it";
    System.err.println(getClass().getSimpleName() + ": " + message); // reports seldom tell why
    return abort(message);
  }

  /** Prints a line for each test, because a slow store takes minutes. */
  @BeforeEach
  void printProgress(TestInfo test) {
    System.err.println(getClass().getSimpleName() + ": " + test.getDisplayName());
  }

  /**
   * {@return the time limit of a call, 60 seconds by default} A call that exceeds it fails its
   * test. A call of an unreachable store has a quarter of it, since callers wait for its failure.
   * Calls that are made at once, at most 32, all have to end within this time from their common
   * start, also if the store serves one after the other.
   */
  protected Duration timeLimit() {
    return Duration.ofSeconds(60);
  }

  /**
   * {@return the length of the largest text, in bytes of UTF-8, 1 MiB by default} A plant has at
   * most this much text. What the engine of the store cannot take, the store may refuse with {@link
   * org.plantstore.domain.InvalidPlantException}, beyond 100 characters.
   */
  protected int largestText() {
    return 1 << 20;
  }

  @InBothForms
  void r1_a_free_id_is_stored_and_remains_and_an_equal_plant_is_returned(Form form) {
    RuleCheck r1 = check("R1", form);
    PlantStore store = emptyStore();
    List<NewPlant> alike = Plants.alikeWithOtherIds();
    r1.assertStores(alike, store);
    LockSupport.parkNanos(IDLE.toNanos());
    for (NewPlant plant : alike) {
      r1.assertStored(plant, store, "after " + IDLE.toSeconds() + " s without a call");
    }
  }

  @InBothForms
  void r2_a_taken_id_changes_nothing_and_the_stored_plant_is_returned(Form form) {
    RuleCheck r2 = check("R2", form);
    PlantStore store = emptyStore();
    for (List<NewPlant> alike : Plants.alike(largestText())) {
      NewPlant stored = alike.get(0);
      if (r2.returns(stored, store, stored, "for a free id")) {
        alike.forEach(rival -> r2.returns(stored, store, rival, "for a taken id"));
        r2.assertStored(stored, store, "for a taken id");
      }
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
    RuleCheck other = form == Form.ASYNCHRONOUS ? check("R3", form.other()) : r3;
    for (int race = 1; race <= RACES_OF_TWO + RACES_OF_MANY; race++) {
      List<Call> calls = new ArrayList<>();
      for (int caller = 0; caller < (race <= RACES_OF_TWO ? 2 : MANY); caller++) {
        // Asynchronous calls also race with blocking ones.
        RuleCheck turn = caller % 2 == 0 ? r3 : other;
        PlantStore instance = instances.get(caller % instances.size());
        calls.add(turn.call(instance, rival(race, caller), "together with others"));
      }
      r3.assertOneWins(calls, instances);
    }
  }

  /** Returns a plant of a race: a store may treat some ids and texts, and equal rivals, apart. */
  private static NewPlant rival(int race, int caller) {
    long id = (race % 2 == 0 ? 1 : -1) * (1_000L + race); // Java shares small ids
    int rival = race % 7 == 0 ? race : caller;
    return race % 5 == 0 ? Plants.large(id, rival, 10_000) : Plants.rival(id, rival);
  }

  @InBothForms
  void r4_returned_plant_survives_a_crash(Form form) {
    RuleCheck r4 = check("R4", form);
    PlantStore store = emptyStore();
    Set<NewPlant> returned = new LinkedHashSet<>();

    // Unusual plants too: a store may return text from memory that its disk has changed.
    List<NewPlant> plants = new ArrayList<>(Plants.bounds());
    plants.addAll(Plants.unusual(100, largestText()));
    plants.addAll(Plants.plants(1_000, 1_000 + PLANTS_BEFORE_CRASH - plants.size()));
    for (NewPlant plant : plants) {
      if (r4.returns(plant, store, plant, "for a free id")) {
        returned.add(plant);
      }
    }
    // Last, because a later single call may write the plants that concurrent calls left unwritten.
    for (int round = 0; round < ROUNDS_BEFORE_CRASH; round++) {
      // Large ones last, because a later small one may write what a large one left unwritten.
      int length = round == ROUNDS_BEFORE_CRASH - 1 ? largestText() / 4 : 0;
      List<Call> calls = new ArrayList<>();
      for (int caller = 0; caller < MANY; caller++) {
        long id = 2_000L + (round * MANY + caller) / 2;
        NewPlant rival = Plants.large(id, caller % 2, length);
        calls.add(r4.call(store, rival, "together with others"));
      }
      Calls.atOnce(calls, timeLimit()).stream() // some may fail
          .filter(NewPlant.class::isInstance)
          .forEach(plant -> returned.add((NewPlant) plant));
    }

    PlantStore afterCrash = storeAfterCrash();

    long first = (1L << 20) + 100; // ids that equal earlier ones in their last bits
    r4.assertStores(Plants.plants(first, first + PLANTS_BEFORE_CRASH), afterCrash);
    for (NewPlant plant : returned) {
      r4.assertStored(plant, afterCrash, "after a crash, for an id that was taken before it");
    }
  }

  @InBothForms
  void r5_text_is_kept_exactly(Form form) {
    check("R5", form).assertStores(Plants.unusual(1, largestText()), emptyStore());
  }

  @InBothForms
  void r6_every_long_is_an_id(Form form) {
    check("R6", form).assertStores(Plants.bounds(), emptyStore());
  }

  @InBothForms
  void r7_a_failure_shows_that_trying_again_can_help_and_trying_again_is_safe(Form form) {
    RuleCheck r7 = check("R7", form);
    PlantStore store = emptyStore();
    NewPlant stored = Plants.plant(UNREACHABLE + 1);
    r7.returns(stored, store, stored, "for a free id");
    PlantStore unreachable = unreachableStore();
    List<NewPlant> plants = Plants.plants(1, UNREACHABLE + 1);
    String occasion = "where the store is unreachable";

    // First one call, then many at once: a store may fail differently after its first failure.
    RuleCheck soon = new RuleCheck("R7", form, timeLimit().dividedBy(4));
    soon.assertUnavailable(List.of(Plants.rival(stored.id(), 1)), unreachable, occasion);
    r7.assertUnavailable(plants, unreachable, occasion);

    r7.assertStored(stored, store, "for an id that was taken before a call for it failed");
    for (NewPlant plant : plants) {
      r7.returns(plant, store, plant, "again, where the store is reachable");
      r7.assertStored(plant, store, "after the plant with this id was tried again");
    }
  }

  @InBothForms
  void r7_a_silent_server_and_one_that_was_away_are_no_end(Form form) throws IOException {
    RuleCheck r7 = check("R7", form);
    PlantStore store = emptyStore();
    try (Proxy proxy = new Proxy(server())) {
      PlantStore behind = storeThrough(proxy.address());
      List<NewPlant> plants = Plants.plants(1, MANY + 1);
      r7.assertAvailableAgain(Plants.plant(0), behind, "through a proxy");

      proxy.become(Proxy.State.SILENT);
      r7.assertUnavailable(plants, behind, "while the server is silent");
      if (form == Form.ASYNCHRONOUS) {
        r7.assertDoesNotBlock(List.of(plants, plants), behind, "while the server is silent");
      }
      proxy.become(Proxy.State.FORWARDING);
      r7.assertAvailableAgain(plants.get(0), behind, "after the server was silent");

      proxy.become(Proxy.State.REFUSING);
      // Others, since a store may return plants that it knows to be durable.
      List<NewPlant> others = Plants.plants(MANY + 1, 2 * MANY + 1);
      r7.assertUnavailable(others, behind, "while the server refuses connections");
      proxy.become(Proxy.State.FORWARDING);
      for (NewPlant plant : Plants.plants(1, 2 * MANY + 1)) {
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
    for (int id = 0; id < INTERRUPTS; id++) {
      NewPlant plant = Plants.large(id, id, 1 << 16);
      r7.assertOutlivesInterrupt(plant, store, id % 2 * 20_000L * id);
    }
  }

  @Test
  void r7_the_asynchronous_form_does_not_block_its_caller() {
    RuleCheck r7 = check("R7", Form.ASYNCHRONOUS);
    List<List<NewPlant>> attempts =
        List.of(Plants.plants(0, 64), Plants.plants(64, 128), Plants.plants(128, 192));
    r7.assertDoesNotBlock(attempts, emptyStore(), "for a free id");
  }

  @Test
  void r7_a_call_that_an_executor_rejects_fails_by_its_stage() {
    RuleCheck r7 = check("R7", Form.ASYNCHRONOUS);
    PlantStore store = emptyStore();
    NewPlant plant = Plants.plant(1);
    ExecutorService closed = Executors.newCachedThreadPool();
    closed.shutdown();
    Call call = new Call(Form.ASYNCHRONOUS, store, plant, closed, "with a closed executor");
    r7.assertThrows(RejectedExecutionException.class, plant, call); // or needs no executor
    r7.assertStores(List.of(plant), store);
  }

  @InBothForms
  void r8_many_threads_use_one_store(Form form) {
    RuleCheck r8 = check("R8", form);
    PlantStore store = emptyStore();
    List<NewPlant> plants = Plants.plants(1, CALLERS_AT_ONCE * ROUNDS_OF_CALLERS + 1);

    for (int round = 0; round < ROUNDS_OF_CALLERS; round++) {
      int first = round * CALLERS_AT_ONCE;
      r8.assertReturnsAtOnce(
          plants.subList(first, first + CALLERS_AT_ONCE), store, "in one of many threads");
    }
    for (NewPlant plant : plants) {
      r8.assertStored(plant, store, "for an id that one of many threads took");
    }
  }

  @Test
  void r8_a_call_that_is_cancelled_takes_no_other_with_it() {
    RuleCheck r8 = check("R8", Form.ASYNCHRONOUS);
    PlantStore store = emptyStore();
    for (NewPlant plant : Plants.plants(1, CALLERS_AT_ONCE + 1)) {
      // A store may combine equal calls, or those with one id.
      NewPlant other = plant.id() % 2 == 0 ? plant : Plants.rival(plant.id(), 1);
      r8.assertOutlivesCancellation(plant, other, store);
    }
  }

  @Test
  @SuppressWarnings("NullAway") // this test passes null
  void r9_null_is_refused() {
    RuleCheck r9 = check("R9", Form.BLOCKING);
    PlantStore store = emptyStore();
    NewPlant plant = Plants.plant(1);
    for (Call call :
        List.of(
            new Call(Form.BLOCKING, store, null, CALLERS, "instead of a plant"),
            new Call(Form.ASYNCHRONOUS, store, null, CALLERS, "instead of a plant"),
            new Call(Form.ASYNCHRONOUS, store, plant, null, "without an executor"))) {
      r9.assertThrows(NullPointerException.class, Plants.mark(), call);
    }
    r9.assertStores(List.of(plant), store);
  }

  /** Returns the store under test, and finds plants of an earlier test, which look like faults. */
  private PlantStore emptyStore() {
    PlantStore store = store();
    NewPlant mark = Plants.mark();
    Object found = Calls.atOnce(List.of(() -> store.putIfAbsent(mark)), timeLimit()).get(0);
    if (found instanceof NewPlant earlier && Plants.isEarlierMark(earlier, mark)) {
      throw new IllegalStateException(
          "the store was not empty: store() must return an empty one for each test, but this one"
              + " has the plant of an earlier test: "
              + Description.of(earlier));
    }
    return store;
  }

  private RuleCheck check(String rule, Form form) {
    return new RuleCheck(rule, form, timeLimit());
  }
}
