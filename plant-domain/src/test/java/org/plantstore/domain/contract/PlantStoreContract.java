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
 * Tests a {@link PlantStore} against rules R1 to R9. To test a store, extend this class. The name
 * of each test method begins with the rule that it tests. Half of the calls use the blocking form
 * of the method, and half use the asynchronous form.
 *
 * <p>Each test needs an empty store, and calls the store from several threads. A subclass must
 * override {@link #store()}. The other methods are optional. If a test needs a method that is not
 * overridden, the test is aborted, and the kit prints to standard error what was not tested.
 *
 * <p>If concurrent calls conflict while the database is reachable, the store must wait. If the
 * store throws {@link PlantStoreUnavailableException} instead, the tests of R3 and R8 fail.
 *
 * <p>A run makes about 9,000 calls, some of which contain the largest text. If the store keeps
 * plants in a map, a run takes 10 seconds. If each call takes 10 ms, a run takes about a minute.
 * The tests require JUnit Jupiter 5.10 or later.
 */
public abstract class PlantStoreContract {

  /** A number of callers that exceeds the usual size of a connection pool. */
  private static final int MANY = 32;

  private static final String CONCURRENTLY = "concurrently with other calls";

  /** Creates an instance. Subclasses call this constructor. */
  protected PlantStoreContract() {}

  /** {@return the store under test, which must be empty} Each test calls this method once. */
  protected abstract PlantStore store();

  /**
   * {@return a second store that uses the database of {@link #store()}, as if in a second process}
   */
  protected PlantStore anotherStore() {
    return abort(notTested("R3 with two instances", "anotherStore"));
  }

  /**
   * Crashes and restarts the component that holds the data, such as the database server or an
   * embedded database's process, and returns a new store that uses the remaining data. The
   * component must crash without writing any more data. All calls to the store have ended before
   * the kit calls this method. {@link PlantStoreCrashContract} tests crashes during calls.
   *
   * @return a new store that uses the data that survived the crash
   */
  protected PlantStore storeAfterCrash() {
    return abort(notTested("R4", "storeAfterCrash"));
  }

  /** {@return a store that cannot reach its database, such as a store whose server is stopped} */
  protected PlantStore unreachableStore() {
    return abort(notTested("R7", "unreachableStore"));
  }

  /** {@return a store that can never store a plant, for example because a column is missing} */
  protected PlantStore damagedStore() {
    return abort(notTested("R7 with a damaged database", "damagedStore"));
  }

  /**
   * Writes a row that is not a valid plant to the database, such as a row whose name is {@code
   * "a\0b"} or null.
   *
   * @param id the id of the row, which is still free
   */
  protected void putInvalidRow(long id) {
    abort(notTested("R7 with an invalid row", "putInvalidRow"));
  }

  /**
   * {@return the address of the database server, if there is one} The kit starts a proxy in front
   * of the server. The proxy simulates outages: it stops responding, or it drops or refuses
   * connections, and later it forwards traffic again.
   */
  protected InetSocketAddress server() {
    return abort(notTested("R7 with a server outage", "server"));
  }

  /**
   * {@return a new store that uses the database of {@link #store()}, but connects to a proxy
   * instead of the {@link #server()}}
   *
   * @param proxy the address of the proxy
   */
  protected PlantStore storeThrough(InetSocketAddress proxy) {
    return abort(notTested("R7 with a server outage", "storeThrough"));
  }

  /**
   * {@return the time limit of a call, 60 seconds by default} If a call takes longer, the test
   * fails. If the database is unreachable, a call must end within a quarter of this time, because
   * the caller waits for the exception. Up to 32 concurrent calls must all end within this time,
   * even if the store processes them one after another.
   */
  protected Duration timeLimit() {
    return Duration.ofSeconds(60);
  }

  /**
   * {@return the size of the largest text, in bytes of UTF-8, 1 MiB by default} The kit's plants
   * never contain more text. If the database engine does not support a plant with more than 100
   * characters of text, the store may reject the plant with {@link
   * org.plantstore.domain.InvalidPlantException}.
   */
  protected int largestText() {
    return 1 << 20;
  }

  private String notTested(String subject, String method) {
    String message = subject + " was not tested. Override " + method + "() to test it.";
    System.err.println(getClass().getSimpleName() + ": " + message); // reports may omit the message
    return message;
  }

  @Test
  void r1_if_the_id_is_free_the_plant_is_stored_and_an_equal_plant_is_returned() {
    RuleCheck r1 = check("R1");
    List<NewPlant> similar = List.of(Plants.rival(2, 1), Plants.rival(3, 1)); // only the ids differ
    r1.assertStores(similar);
    LockSupport.parkNanos(5_000_000_000L); // detects stores whose entries expire
    similar.forEach(plant -> r1.assertStored(plant, "after 5 s without calls"));
  }

  @Test
  void r2_if_the_id_is_taken_nothing_changes_and_the_stored_plant_is_returned() {
    RuleCheck r2 = check("R2");
    for (List<NewPlant> similar : Plants.similar(largestText())) {
      NewPlant stored = similar.get(0);
      if (r2.returns(stored, stored, FREE)) {
        similar.forEach(
            rival -> r2.returns(stored, rival, "for an id that a similar plant has taken"));
        r2.assertStored(stored, "for a taken id");
      }
    }
  }

  @Test
  void r3_concurrent_calls_all_return_the_one_winning_plant() {
    RuleCheck r3 = check("R3");
    List<PlantStore> instances = List.of(r3.store());
    assertOneWins(r3, instances);
    for (List<NewPlant> similar : Plants.similar(largestText())) { // a store may combine the calls
      var calls = similar.stream().map(plant -> r3.call(Form.ASYNCHRONOUS, plant, CONCURRENTLY));
      r3.assertOneWins(calls.toList(), instances);
    }
  }

  @Test
  void r3_concurrent_calls_through_two_instances_have_exactly_one_winner() {
    RuleCheck r3 = check("R3");
    assertOneWins(r3, List.of(r3.store(), anotherStore()));
  }

  private static void assertOneWins(RuleCheck r3, List<PlantStore> instances) {
    for (int race = 1; race <= 100; race++) {
      List<Call> calls = new ArrayList<>();
      // Two callers collide more often than many callers do, because many callers have to wait for
      // processors.
      for (int caller = 0; caller < (race <= 80 ? 2 : MANY); caller++) {
        Form form = Form.of((long) race * caller); // both forms race with blocking calls
        PlantStore instance = instances.get(caller % instances.size());
        NewPlant rival = Plants.rival(1_000L + race, caller); // Java caches Longs up to 127
        calls.add(r3.on(instance).call(form, rival, CONCURRENTLY));
      }
      r3.assertOneWins(calls, instances);
    }
  }

  @Test
  void r4_a_returned_plant_survives_a_crash() {
    RuleCheck r4 = check("R4");
    // Includes unusual plants, because a store may alter text when it writes the text to its disk,
    // but return the original text from memory. The totals 211 and 227 are prime numbers, so a
    // store that writes only full groups of a fixed size leaves some plants unwritten.
    List<NewPlant> plants = new ArrayList<>(Plants.withBoundaryIds());
    plants.addAll(Plants.unusual(largestText()));
    plants.addAll(Plants.plants(1_000, 1_211 - plants.size()));
    List<NewPlant> stored =
        new ArrayList<>(plants.stream().filter(plant -> r4.returns(plant, plant, FREE)).toList());
    // These calls run last, because a later call might write plants that these calls left
    // unwritten.
    List<NewPlant> concurrent = Plants.plants(2_000, 2_016);
    r4.assertConcurrently(concurrent, CONCURRENTLY, plant -> plant);
    stored.addAll(concurrent);

    RuleCheck afterCrash = r4.on(storeAfterCrash());

    stored.forEach(plant -> afterCrash.assertStored(plant, "after a crash"));
    afterCrash.assertStores(Plants.plants(3_000, 3_010));
  }

  @Test
  void r5_text_is_stored_exactly_as_given() {
    check("R5").assertStores(Plants.unusual(largestText()));
  }

  @Test
  void r6_every_long_is_a_valid_id() {
    check("R6").assertStores(Plants.withBoundaryIds());
  }

  @Test
  void r7_an_unreachable_database_makes_the_store_unavailable_and_a_retry_is_safe() {
    RuleCheck r7 = check("R7");
    NewPlant stored = Plants.plant(9);
    r7.returns(stored, stored, FREE);
    PlantStore unreachable = unreachableStore();
    List<NewPlant> plants = Plants.plants(1, 9); // few, because one call may wait for another

    // Starts with a single call, because the first failure may differ from later failures.
    RuleCheck quick = new RuleCheck("R7", unreachable, timeLimit().dividedBy(4));
    String occasion = "while the database is unreachable";
    quick.outcome(quick.call(Plants.rival(stored.id(), 1), occasion), UNAVAILABLE);
    r7.on(unreachable).assertConcurrently(plants, occasion, plant -> UNAVAILABLE);

    r7.assertStored(stored, "for an id that was taken before another call for the id failed");
    for (NewPlant plant : plants) {
      r7.returns(plant, plant, "on a retry, while the database is reachable");
      r7.assertStored(plant, "after a retry with the plant of this id");
    }
  }

  @Test
  void r7_the_store_recovers_after_a_silent_server_and_refused_connections() throws IOException {
    RuleCheck r7 = check("R7");
    try (Proxy proxy = new Proxy(server())) {
      RuleCheck behind = r7.on(storeThrough(proxy.address()));
      behind.assertAvailableAgain(Plants.plant(0), "through a proxy");

      proxy.switchTo(Proxy.State.SILENT);
      List<NewPlant> plants = Plants.plants(1, MANY + 1);
      behind.assertConcurrently(plants, "while the server is silent", plant -> UNAVAILABLE);
      behind.assertDoesNotBlock(plants, "while the server is silent");
      proxy.switchTo(Proxy.State.FORWARDING);
      behind.assertAvailableAgain(plants.get(0), "after the server was silent");

      proxy.switchTo(Proxy.State.FORGETFUL);
      behind.assertAvailableAgain(plants.get(1), "after the open connections stopped responding");

      proxy.switchTo(Proxy.State.REFUSING);
      // Uses other plants, because a store does not need its server to return plants that it knows
      // to be stored.
      List<NewPlant> others = Plants.plants(MANY + 1, 2 * MANY + 1);
      long end = System.nanoTime() + 5_000_000_000L; // detects stores that stop reconnecting
      while (System.nanoTime() < end) {
        behind.assertConcurrently(
            others, "while the server refuses connections", plant -> UNAVAILABLE);
        LockSupport.parkNanos(100_000_000);
      }
      proxy.switchTo(Proxy.State.FORWARDING);
      for (NewPlant plant : Plants.plants(1, 2 * MANY + 1)) {
        behind.assertAvailableAgain(plant, "after the server refused connections for 5 s");
        r7.assertStored(plant, "after a retry with the plant of this id");
      }
    }
  }

  @Test
  void r7_an_internal_error_is_not_reported_as_an_outage_or_as_a_caller_error() {
    RuleCheck r7 = check("R7").on(damagedStore());
    r7.assertConcurrently(Plants.plants(1, 3), "with a damaged database", plant -> FAULT);
  }

  @Test
  void r7_an_invalid_row_is_reported_as_an_internal_error_and_does_not_affect_other_ids() {
    RuleCheck r7 = check("R7");
    putInvalidRow(1);
    putInvalidRow(2);
    for (List<NewPlant> plants : List.of(Plants.plants(1, 3), Plants.plants(1, MANY))) {
      r7.assertConcurrently(
          plants, "while rows 1 and 2 are invalid", plant -> plant.id() <= 2 ? FAULT : plant);
    }
  }

  @Test
  void r7_a_rejection_by_the_executor_is_reported_by_the_stage() {
    RuleCheck r7 = check("R7");
    ExecutorService full = Executors.newCachedThreadPool();
    full.shutdown(); // makes the executor reject every task
    NewPlant plant = Plants.plant(1);
    Call call =
        new Call(Form.ASYNCHRONOUS, r7.store(), plant, full, "with an executor that rejects it");
    r7.outcome(call, plant, RejectedExecutionException.class);
    r7.assertStores(List.of(plant));
  }

  @Test
  void r7_an_interrupted_call_can_be_retried_and_its_thread_remains_interrupted() {
    RuleCheck r7 = check("R7");
    // Half of the interrupts precede the call. Because the text is large, other interrupts can
    // arrive while a plant is being written.
    for (int id = 0; id < 50; id++) {
      r7.assertSurvivesInterrupt(Plants.large(id, 1 << 16), id % 2 * 20_000L * id);
    }
  }

  @Test
  void r7_the_asynchronous_form_does_not_block_its_caller() {
    check("R7").assertDoesNotBlock(Plants.plants(0, 640), FREE);
  }

  @Test
  void r8_many_threads_can_use_one_store() {
    RuleCheck r8 = check("R8");
    List<NewPlant> plants = Plants.plants(0, 40 * MANY);

    for (int first = 0; first < plants.size(); first += MANY) {
      List<NewPlant> round = plants.subList(first, first + MANY);
      r8.assertConcurrently(round, "on one of many threads", plant -> plant);
    }
    plants.forEach(plant -> r8.assertStored(plant, "for an id that one of many threads has taken"));
  }

  @Test
  void r8_canceling_a_call_does_not_affect_other_calls() {
    RuleCheck r8 = check("R8");
    for (NewPlant plant : Plants.plants(1, MANY + 1)) {
      // A store may combine equal calls, calls for the same id, or all calls.
      List<NewPlant> others =
          List.of(plant, Plants.rival(plant.id(), 1), Plants.plant(-plant.id()));
      r8.assertSurvivesCancellation(plant, others.get((int) plant.id() % 3));
    }
  }

  @Test
  @SuppressWarnings("NullAway") // this test passes null
  void r9_null_is_rejected() {
    RuleCheck r9 = check("R9");
    for (Form form : Form.values()) {
      r9.outcome(r9.call(form, null, "with a null plant"), NullPointerException.class);
    }
    NewPlant plant = Plants.plant(1);
    Call call = new Call(Form.ASYNCHRONOUS, r9.store(), plant, null, "with a null executor");
    r9.outcome(call, NullPointerException.class);
    r9.assertStores(Plants.plants(1, 2));
  }

  private RuleCheck check(String rule) {
    return new RuleCheck(rule, store(), timeLimit());
  }
}
