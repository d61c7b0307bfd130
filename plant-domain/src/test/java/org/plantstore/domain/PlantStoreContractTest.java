package org.plantstore.domain;

import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toMap;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.FutureTask;
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
import org.plantstore.domain.contract.PlantStoreContract;

/** Runs all tests of the contract on a sound store, and those that must fail on others. */
@Execution(ExecutionMode.CONCURRENT)
class PlantStoreContractTest {

  private static final int TESTS = 15;

  /** A broken store may win a race, on a busy machine often. */
  private static final int MAX_RUNS = 10;

  /** The time limit of a call of a broken store, some of which do not end a call. */
  static final Duration SHORT_LIMIT = Duration.ofSeconds(2);

  /** JUnit creates the instances of the contract, in the thread of the test that runs them. */
  private static final ThreadLocal<SampleStore> SAMPLE = new ThreadLocal<>();

  /** The server of the samples: it sends a byte on each connection. */
  @AutoClose
  private static final ServerSocket SERVER = assertDoesNotThrow(() -> new ServerSocket(0));

  @BeforeAll
  static void startServer() {
    new Thread(
            new FutureTask<>(() -> { // ends by an exception when the socket is closed
              while (true) {
                try (Socket client = SERVER.accept()) {
                  client.getOutputStream().write(1);
                }
              }
            }))
        .start();
  }

  static class SampleStoreContract extends PlantStoreContract {

    private final SampleStore sample = SAMPLE.get();
    private final SampleStore.Database database = new SampleStore.Database();

    @Override
    protected PlantStore store() {
      return sample.open(database, null);
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
      return sample.open(database, new InetSocketAddress(InetAddress.getLoopbackAddress(), 1));
    }

    @Override
    protected InetSocketAddress server() {
      return (InetSocketAddress) SERVER.getLocalSocketAddress();
    }

    @Override
    protected PlantStore storeThrough(InetSocketAddress proxy) {
      return sample.open(database, proxy);
    }

    @Override
    protected Duration timeLimit() {
      return sample.failedTests.isEmpty() ? super.timeLimit() : SHORT_LIMIT;
    }
  }

  static class StoreOnlyContract extends PlantStoreContract {

    @Override
    protected PlantStore store() {
      return new SampleStore.Database()::putIfAbsent; // its asynchronous form is the default
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"SOUND", "REFUSES_LONG_TEXTS"})
  void sound_store_passes(SampleStore sound) {
    Events run = run(sound, selectClass(SampleStoreContract.class));

    assertEquals(TESTS, run.succeeded().count(), messages(run.failed())::toString);
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"SOUND", "REFUSES_LONG_TEXTS"})
  @Timeout(60)
  void tests_of_the_broken_rule_fail(SampleStore broken) {
    for (Method test : PlantStoreContract.class.getDeclaredMethods()) {
      if (test.getName().startsWith(broken.failedTests)) {
        Map<String, String> failed = Map.of();
        for (int runs = 0; failed.isEmpty() && runs < MAX_RUNS; runs++) {
          failed = messages(run(broken, selectMethod(SampleStoreContract.class, test)).failed());
        }
        assertFalse(failed.isEmpty(), test.getName());
        failed.values().forEach(message -> assertTellsTheDifference(broken, message));
      }
    }
  }

  /** Everything invisible is escaped, and long text is shortened to the first difference. */
  private static void assertTellsTheDifference(SampleStore broken, String message) {
    String rule = broken.failedTests.substring(1, 2);
    boolean unavailable = broken == SampleStore.HAS_16_CONNECTIONS_AND_WAITS_FOR_NONE;
    String verdict = unavailable ? "not shown, because the store was unavailable, .+" : "broken:";
    String parts =
        " of PlantStore is " + verdict + "\n  putIfAbsent(Async)?\\(~ ~\n  must ~,\n  but ~";
    assertTrue(message.matches("R" + rule + parts.replace("~", "[ -~]{3,600}")), message);
    assertFalse(message.matches("(?s).+ return (.+),\n  but returned \\1"), message);
  }

  @Test
  void tests_that_need_more_than_a_store_are_aborted_without_it() {
    Events run = run(SampleStore.SOUND, selectClass(StoreOnlyContract.class));

    assertEquals(
        """
        R3 through two instances is not shown: override anotherStore() to show it
        R4 is not shown: override storeAfterCrash() to show it
        R7 is not shown: override unreachableStore() to show it
        R7 with a silent server is not shown: override server() to show it\
        """,
        messages(run.aborted()).values().stream()
            .map(message -> message.replace("Assumption failed: ", ""))
            .distinct()
            .collect(joining("\n")));
    assertEquals(TESTS - 4, run.succeeded().count());
  }

  private static Events run(SampleStore sample, DiscoverySelector tests) {
    SAMPLE.set(sample);
    return run(tests);
  }

  static Events run(DiscoverySelector tests) {
    return EngineTestKit.engine("junit-jupiter").selectors(tests).execute().testEvents();
  }

  /** Returns the messages of tests that ended by an exception, by their names. */
  static Map<String, String> messages(Events ended) {
    return ended.stream()
        .collect(
            toMap(
                test -> test.getTestDescriptor().getDisplayName(),
                test ->
                    test.getRequiredPayload(TestExecutionResult.class)
                        .getThrowable()
                        .map(thrown -> String.valueOf(thrown.getMessage()))
                        .orElseThrow(),
                (one, other) -> one + other,
                TreeMap::new));
  }
}
