package org.plantstore.domain.contract;

import static org.junit.jupiter.api.Assumptions.abort;
import static org.plantstore.domain.contract.RuleCheck.FAULT;
import static org.plantstore.domain.contract.RuleCheck.FREE;
import static org.plantstore.domain.contract.RuleCheck.UNAVAILABLE;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.plantstore.domain.contract.Calls.Form;
import org.plantstore.domain.contract.RuleCheck.Call;

/**
 * Tests a {@link PlantStore} against its rules R1 to R9. Half of the calls are made in the blocking
 * form, and half in the asynchronous form. The name of each test begins with its rule. The test of
 * a store extends this class.
 *
 * <p>Each test needs an empty store, and calls it from threads of its own. Only {@link #store()} is
 * required. Where a method that another test needs is not overridden, that test is aborted, and a
 * line on the standard error names what was not shown.
 *
 * <p>A store whose database can be reached has to wait when concurrent calls conflict. If it throws
 * {@link PlantStoreUnavailableException} instead, the tests of R3 and R8 fail.
 *
 * <p>A run makes about 9,000 calls, some of them with the largest text. It takes 10 s if the store
 * is a map, and about a minute if a call takes 10 ms. JUnit Jupiter 5.10 or later is required.
 */
public abstract class PlantStoreContract {

  /** More callers than a pool usually has connections. */
  private static final int MANY = 32;

  private static final String TOGETHER = "together with others";

  /** Constructor for subclasses. */
  protected PlantStoreContract() {}

  /** {@return the store under test, which is empty} Each test calls this once. */
  protected abstract PlantStore store();

  /** {@return another instance on the database of {@link #store()}, as of a second process} */
  protected PlantStore anotherStore() {
    return abort(told("R3 through two instances is not shown: override anotherStore() to show it"));
  }

  /**
   * Crashes and restarts whatever would lose plants that are not durable (the database server, or
   * the process that holds them), and returns a new instance on the remaining data. The crash must
   * leave no chance to write anything more. {@link PlantStoreCrashContract} tests crashes during
   * calls; here, all have ended before.
   *
   * @return the store after the crash
   */
  protected PlantStore storeAfterCrash() {
    return abort(told("R4 is not shown: override storeAfterCrash() to show it"));
  }

  /** {@return a store that cannot reach its database, such as one whose server is stopped} */
  protected PlantStore unreachableStore() {
    return abort(told("R7 is not shown: override unreachableStore() to show it"));
  }

  /** {@return a store that can never keep a plant, such as one whose table has lost a column} */
  protected PlantStore damagedStore() {
    return abort(told("R7 with a fault is not shown: override damagedStore() to show it"));
  }

  /**
   * Writes a row that is not a valid plant, such as one with the name {@code "a\0b"} or without
   * one.
   *
   * @param id the id of the row, which is free
   */
  protected void putInvalidRow(long id) {
    abort(told("R7 with an invalid row is not shown: override putInvalidRow() to show it"));
  }

  /**
   * {@return the address of the database's server, if it has one} The kit puts a proxy in front of
   * it, which falls silent, loses or refuses connections, and forwards again.
   */
  protected InetSocketAddress server() {
    return abort(told("R7 with a silent server is not shown: override server() to show it"));
  }

  /**
   * {@return a new instance on the database of {@link #store()}, which connects to a proxy in place
   * of the {@link #server()}}
   *
   * @param proxy the address of the proxy
   */
  protected PlantStore storeThrough(InetSocketAddress proxy) {
    return abort(told("R7 with a silent server is not shown: override storeThrough() to show it"));
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

  private String told(String message) {
    System.err.println(getClass().getSimpleName() + ": " + message); // reports seldom tell why
    return message;
  }

  @Test
  void r1_a_free_id_is_stored_and_remains_and_an_equal_plant_is_returned() {
    RuleCheck r1 = check("R1");
    List<NewPlant> alike = List.of(Plants.rival(2, 1), Plants.rival(3, 1)); // but for their ids
    r1.assertStores(alike);
    LockSupport.parkNanos(5_000_000_000L); // longer than a time to live by mistake
    alike.forEach(plant -> r1.assertStored(plant, "after 5 s without a call"));
  }

  @Test
  void r2_a_taken_id_changes_nothing_and_the_stored_plant_is_returned() {
    RuleCheck r2 = check("R2");
    for (List<NewPlant> alike : Plants.alike(largestText())) {
      NewPlant stored = alike.get(0);
      if (r2.returns(stored, stored, FREE)) {
        alike.forEach(
            rival -> r2.returns(stored, rival, "for an id whose plant differs in a char"));
        r2.assertStored(stored, "for a taken id");
      }
    }
  }

  @Test
  void r3_of_concurrent_calls_one_wins_and_every_call_returns_the_winner() {
    RuleCheck r3 = check("R3");
    List<PlantStore> instances = List.of(r3.store());
    assertOneWins(r3, instances);
    for (List<NewPlant> alike : Plants.alike(largestText())) { // a store may combine these
      var calls = alike.stream().map(plant -> r3.call(Form.ASYNCHRONOUS, plant, TOGETHER));
      r3.assertOneWins(calls.toList(), instances);
    }
  }

  @Test
  void r3_of_concurrent_calls_through_two_instances_one_wins() {
    RuleCheck r3 = check("R3");
    assertOneWins(r3, List.of(r3.store(), anotherStore()));
  }

  private static void assertOneWins(RuleCheck r3, List<PlantStore> instances) {
    for (int race = 1; race <= 100; race++) {
      List<Call> calls = new ArrayList<>();
      // Two callers meet more often than many, who wait for processors.
      for (int caller = 0; caller < (race <= 80 ? 2 : MANY); caller++) {
        Form form = Form.of((long) race * caller); // both race with blocking calls
        PlantStore instance = instances.get(caller % instances.size());
        NewPlant rival = Plants.rival(1_000L + race, caller); // Java shares small ids
        calls.add(r3.on(instance).call(form, rival, TOGETHER));
      }
      r3.assertOneWins(calls, instances);
    }
  }

  @Test
  void r4_returned_plant_survives_a_crash() {
    RuleCheck r4 = check("R4");
    // Unusual plants too: a store may return text from memory that its disk has changed. A store
    // that writes plants in groups of a usual size has not written all of 211, or of 227.
    List<NewPlant> plants = new ArrayList<>(Plants.bounds());
    plants.addAll(Plants.unusual(largestText()));
    plants.addAll(Plants.plants(1_000, 1_211 - plants.size()));
    List<NewPlant> stored =
        new ArrayList<>(plants.stream().filter(plant -> r4.returns(plant, plant, FREE)).toList());
    // Last, because a later single call may write the plants that concurrent calls left unwritten.
    List<NewPlant> atOnce = Plants.plants(2_000, 2_016);
    r4.assertAtOnce(atOnce, TOGETHER, plant -> plant);
    stored.addAll(atOnce);

    RuleCheck afterCrash = r4.on(storeAfterCrash());

    stored.forEach(plant -> afterCrash.assertStored(plant, "after a crash"));
    afterCrash.assertStores(Plants.plants(3_000, 3_010));
  }

  @Test
  void r5_text_is_kept_exactly() {
    check("R5").assertStores(Plants.unusual(largestText()));
  }

  @Test
  void r6_every_long_is_an_id() {
    check("R6").assertStores(Plants.bounds());
  }

  @Test
  void r7_a_failure_shows_that_trying_again_can_help_and_trying_again_is_safe() {
    RuleCheck r7 = check("R7");
    NewPlant stored = Plants.plant(9);
    r7.returns(stored, stored, FREE);
    PlantStore unreachable = unreachableStore();
    List<NewPlant> plants = Plants.plants(1, 9); // few: each call may wait for the one before

    // First one call, then all at once: a store may fail differently after its first failure.
    RuleCheck soon = new RuleCheck("R7", unreachable, timeLimit().dividedBy(4));
    String occasion = "where the store is unreachable";
    soon.outcome(soon.call(Plants.rival(stored.id(), 1), occasion), UNAVAILABLE);
    r7.on(unreachable).assertAtOnce(plants, occasion, plant -> UNAVAILABLE);

    r7.assertStored(stored, "for an id that was taken before a call for it failed");
    for (NewPlant plant : plants) {
      r7.returns(plant, plant, "again, where the store is reachable");
      r7.assertStored(plant, "after the plant with this id was tried again");
    }
  }

  @Test
  void r7_a_silent_server_and_one_that_was_away_are_no_end() throws IOException {
    RuleCheck r7 = check("R7");
    try (Proxy proxy = new Proxy(server())) {
      RuleCheck behind = r7.on(storeThrough(proxy.address()));
      behind.assertAvailableAgain(Plants.plant(0), "through a proxy");

      proxy.become(Proxy.State.SILENT);
      List<NewPlant> plants = Plants.plants(1, MANY + 1);
      behind.assertAtOnce(plants, "while the server is silent", plant -> UNAVAILABLE);
      behind.assertDoesNotBlock(plants, "while the server is silent");
      proxy.become(Proxy.State.FORWARDING);
      behind.assertAvailableAgain(plants.get(0), "after the server was silent");

      proxy.become(Proxy.State.FORGETFUL);
      behind.assertAvailableAgain(plants.get(1), "after open connections fell silent");

      proxy.become(Proxy.State.REFUSING);
      // Others, since a store may return plants that it knows to be durable.
      List<NewPlant> others = Plants.plants(MANY + 1, 2 * MANY + 1);
      long end = System.nanoTime() + 5_000_000_000L; // a store may give up after some failures
      while (System.nanoTime() < end) {
        behind.assertAtOnce(others, "while the server refuses connections", plant -> UNAVAILABLE);
        LockSupport.parkNanos(100_000_000);
      }
      proxy.become(Proxy.State.FORWARDING);
      for (NewPlant plant : Plants.plants(1, 2 * MANY + 1)) {
        behind.assertAvailableAgain(plant, "after the server refused connections for 5 s");
        r7.assertStored(plant, "after the plant with this id was tried again");
      }
    }
  }

  @Test
  void r7_a_fault_is_not_reported_as_an_outage_or_as_an_error_of_the_caller() {
    RuleCheck r7 = check("R7").on(damagedStore());
    r7.assertAtOnce(Plants.plants(1, 3), "where the database is damaged", plant -> FAULT);
  }

  @Test
  void r7_an_invalid_row_is_a_fault_of_the_store_and_concerns_no_other_id() {
    RuleCheck r7 = check("R7");
    putInvalidRow(1);
    putInvalidRow(2);
    for (List<NewPlant> plants : List.of(Plants.plants(1, 3), Plants.plants(1, MANY))) {
      r7.assertAtOnce(
          plants, "while ids 1 and 2 have invalid rows", plant -> plant.id() <= 2 ? FAULT : plant);
    }
  }

  @Test
  void r7_an_executor_that_rejects_a_call_is_reported_by_the_stage() {
    RuleCheck r7 = check("R7");
    ExecutorService full = Executors.newCachedThreadPool();
    full.shutdown(); // from now on, it rejects every task
    NewPlant plant = Plants.plant(1);
    Call call = new Call(Form.ASYNCHRONOUS, r7.store(), plant, full, "which is rejected");
    r7.outcome(call, plant, RejectedExecutionException.class);
    r7.assertStores(List.of(plant));
  }

  @Test
  void r7_an_interrupt_permits_a_retry_and_remains() {
    RuleCheck r7 = check("R7");
    // Long enough that an interrupt also comes during a write; every other comes before its call.
    for (int id = 0; id < 50; id++) {
      r7.assertOutlivesInterrupt(Plants.large(id, 1 << 16), id % 2 * 20_000L * id);
    }
  }

  @Test
  void r7_the_asynchronous_form_does_not_block_its_caller() {
    check("R7").assertDoesNotBlock(Plants.plants(0, 192), FREE);
  }

  @Test
  void r8_many_threads_use_one_store() {
    RuleCheck r8 = check("R8");
    List<NewPlant> plants = Plants.plants(0, 40 * MANY);

    for (int first = 0; first < plants.size(); first += MANY) {
      List<NewPlant> round = plants.subList(first, first + MANY);
      r8.assertAtOnce(round, "in one of many threads", plant -> plant);
    }
    plants.forEach(plant -> r8.assertStored(plant, "for an id that one of many threads took"));
  }

  @Test
  void r8_a_call_that_is_cancelled_takes_no_other_with_it() {
    RuleCheck r8 = check("R8");
    for (NewPlant plant : Plants.plants(1, MANY + 1)) {
      // A store may combine equal calls, those for one id, or all.
      List<NewPlant> others =
          List.of(plant, Plants.rival(plant.id(), 1), Plants.plant(-plant.id()));
      r8.assertOutlivesCancellation(plant, others.get((int) plant.id() % 3));
    }
  }

  @Test
  @SuppressWarnings("NullAway") // this test passes null
  void r9_null_is_refused() {
    RuleCheck r9 = check("R9");
    for (Form form : Form.values()) {
      r9.outcome(r9.call(form, null, "instead of a plant"), NullPointerException.class);
    }
    Call call = new Call(Form.ASYNCHRONOUS, r9.store(), Plants.plant(1), null, "and no executor");
    r9.outcome(call, NullPointerException.class);
    r9.assertStores(Plants.plants(1, 2));
  }

  private RuleCheck check(String rule) {
    return new RuleCheck(rule, store(), timeLimit());
  }
}
