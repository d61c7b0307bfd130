package org.plantstore.domain;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;
import org.plantstore.domain.SampleStore.Database;
import org.plantstore.domain.SampleStore.Fault;
import org.plantstore.domain.contract.PlantStoreContract;

/**
 * Runs all of the contract's tests on sound stores, and the tests that must fail on faulty stores.
 */
@Execution(ExecutionMode.CONCURRENT)
class PlantStoreContractTest {

  private static final int TESTS = 17;

  /** The fault that makes a store unavailable, so that its rule cannot be tested. */
  private static final Fault UNAVAILABLE = Fault.DOES_NOT_WAIT_FOR_ITS_ONLY_CONNECTION;

  /** The maximum number of attempts, because a faulty store passes if no race occurs. */
  private static final int MAX_RUNS = 10;

  /** The fault under test. JUnit creates the contract on the thread that runs its test. */
  private static final ThreadLocal<Fault> FAULT = new ThreadLocal<>();

  /** A server for the sample stores, which echoes every byte. */
  @AutoClose
  private static final ServerSocket SERVER = assertDoesNotThrow(() -> new ServerSocket(0));

  @BeforeAll
  static void startServer() {
    start(() -> {
      while (true) {
        Socket client = SERVER.accept();
        start(() -> client.getInputStream().transferTo(client.getOutputStream()));
      }
    });
  }

  /** Starts a thread, which ends with an exception when a socket is closed. */
  private static void start(Callable<Object> work) {
    Thread thread = new Thread(new FutureTask<>(work));
    thread.setDaemon(true);
    thread.start();
  }

  static class SampleStoreContract extends PlantStoreContract {

    private final Fault fault = FAULT.get();
    private final Database database = new Database();

    @Override
    protected PlantStore store() {
      return new SampleStore(fault, database, null);
    }

    @Override
    protected PlantStore anotherStore() {
      return store();
    }

    @Override
    protected PlantStore storeAfterCrash() {
      database.crash();
      return store();
    }

    @Override
    protected PlantStore unreachableStore() {
      return storeThrough(new InetSocketAddress(InetAddress.getLoopbackAddress(), 1));
    }

    /** Returns a store whose database is read-only. */
    @Override
    protected PlantStore damagedStore() {
      return new SampleStore(fault, new Database(Map.of(), Map.of(), Set.of()), null);
    }

    @Override
    protected void putInvalidRow(long id) {
      database.invalid().add(id);
    }

    @Override
    protected InetSocketAddress server() {
      return (InetSocketAddress) SERVER.getLocalSocketAddress();
    }

    @Override
    protected PlantStore storeThrough(InetSocketAddress proxy) {
      return new SampleStore(fault, database, proxy);
    }

    /**
     * Some faulty stores never end a call. If the machine stalls for this time, another faulty
     * store also fails, but the store that is unavailable must not fail for another reason.
     */
    @Override
    protected Duration timeLimit() {
      boolean endsCalls = fault.tests.isEmpty() || fault == UNAVAILABLE;
      return endsCalls ? super.timeLimit() : Duration.ofSeconds(2);
    }
  }

  static class StoreOnlyContract extends PlantStoreContract {

    @Override
    protected PlantStore store() {
      return new SampleStore(Fault.NONE, new Database(), null);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"NONE", "REJECTS_LONG_TEXTS"})
  void sound_store_passes(Fault sound) {
    FAULT.set(sound);
    Events run = run(selectClass(SampleStoreContract.class));

    assertEquals(TESTS, run.succeeded().count(), messages(run.failed())::toString);
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"NONE", "REJECTS_LONG_TEXTS"})
  @Timeout(300)
  void faulty_store_fails_the_tests_of_the_violated_rule(Fault fault) {
    FAULT.set(fault);
    for (DiscoverySelector test : tests(SampleStoreContract.class, fault.tests)) {
      List<String> failed = List.of();
      for (int runs = 0; failed.isEmpty() && runs < MAX_RUNS; runs++) {
        failed = messages(run(test).failed());
      }
      assertFalse(failed.isEmpty(), test::toString);
      failed.forEach(message -> assertShowsTheDifference(fault, message));
    }
  }

  /** Asserts that invisible characters are escaped and that long text is abbreviated. */
  private static void assertShowsTheDifference(Fault fault, String message) {
    String rule = fault.tests.substring(1, 2);
    String verdict = fault == UNAVAILABLE ? "was not tested, because .+" : "is violated:";
    String parts =
        " of PlantStore " + verdict + "\n  putIfAbsent(Async)?\\(~ ~\n  must ~,\n  but ~";
    assertTrue(message.matches("Rule R" + rule + parts.replace("~", "[ -~]{3,600}")), message);
    assertFalse(message.matches("(?s).+ return (.+),\n  but returned \\1"), message);
  }

  @Test
  void tests_are_aborted_if_a_method_that_they_need_is_not_overridden() {
    Events run = run(selectClass(StoreOnlyContract.class));

    List<String> aborted = messages(run.aborted());
    assertEquals(6, aborted.size());
    aborted.forEach(message ->
        assertTrue(
            message.matches("R[347] .*was not tested\\. Override \\w+\\(\\) to test it\\."),
            message));
    assertEquals(TESTS - 6, run.succeeded().count(), messages(run.failed())::toString);
  }

  /** Returns the tests of a contract whose names begin with the given text. */
  static List<DiscoverySelector> tests(Class<?> contract, String name) {
    List<DiscoverySelector> tests =
        Stream.of(contract.getSuperclass().getDeclaredMethods())
            .filter(test -> test.getName().startsWith(name))
            .<DiscoverySelector>map(test -> selectMethod(contract, test))
            .toList();
    assertFalse(tests.isEmpty(), name);
    return tests;
  }

  static Events run(DiscoverySelector tests) {
    return EngineTestKit.engine("junit-jupiter").selectors(tests).execute().testEvents();
  }

  /** Returns the messages of the tests that ended with an exception. */
  static List<String> messages(Events ended) {
    return ended.stream()
        .map(test -> test.getRequiredPayload(TestExecutionResult.class).getThrowable())
        .map(thrown -> String.valueOf(thrown.orElseThrow().getMessage()))
        .toList();
  }
}
