package org.plantstore.domain;

import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;
import org.plantstore.domain.contract.PlantStoreContract;

/** Runs all tests of the contract on a sound store, and those of a rule on stores that break it. */
class PlantStoreContractTest {

  private static final int TESTS = 20;

  /** Static, because JUnit creates the instances of the contract. */
  private static SampleStore sample = SampleStore.SOUND;

  static class SampleStoreContract extends PlantStoreContract {

    private final SampleStore.Database database = new SampleStore.Database();

    @Override
    protected PlantStore store() {
      return sample.on(database);
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
      return sample.unreachableOn(database);
    }

    @Override
    protected Duration timeLimit() {
      return sample == SampleStore.HANGS_AFTER_A_FAILURE
          ? Duration.ofMillis(500)
          : super.timeLimit();
    }
  }

  static class StoreOnlyContract extends PlantStoreContract {

    @Override
    protected PlantStore store() {
      return SampleStore.SOUND.on(new SampleStore.Database());
    }
  }

  @Test
  void sound_store_passes() {
    sample = SampleStore.SOUND;

    Events run = run(selectClass(SampleStoreContract.class));

    assertEquals(TESTS, run.succeeded().count(), messages(run.failed())::toString);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SOUND")
  @Timeout(10) // a store that hangs takes 1 s, unless its calls are waited for one after another
  void tests_of_the_broken_rule_fail(SampleStore broken) {
    sample = broken;
    Set<String> rules =
        broken.failedTests.stream().map(test -> test.substring(0, 2)).collect(toSet());

    Events run = run(testsOf(rules));

    Map<String, String> failed = messages(run.failed());
    assertFalse(failed.isEmpty());
    assertEquals(
        run.finished()
            .map(test -> test.getTestDescriptor().getDisplayName())
            .filter(
                test -> broken.failedTests.stream().anyMatch(begin -> test.matches(begin + ".*")))
            .collect(toSet()),
        failed.keySet(),
        failed::toString);
    failed.forEach((test, message) -> assertTellsTheDifference(message, test.substring(1, 2)));
  }

  /** Everything invisible is escaped, and long text is shortened to the first difference. */
  private static void assertTellsTheDifference(String message, String rule) {
    String parts = " of PlantStore is broken:\n  putIfAbsent(Async)?\\(~ ~\n  must ~,\n  but ~";
    String shown = message.replaceAll(" \\(from index \\d+, of \\d+ characters\\)", "");
    assertTrue(message.matches("R" + rule + parts.replace("~", "[ -~]{3,300}")), message);
    assertFalse(shown.matches("(?s).+ return (.+),\n  but returned \\1"), message);
  }

  @Test
  void tests_that_need_more_than_a_store_are_aborted_without_it() {
    Events run = run(selectClass(StoreOnlyContract.class));

    assertEquals(
        """
        R3 is not shown through two instances: override anotherStore() to show it
        R4 is not shown: override storeAfterCrash() to show it
        R7 is not shown: override unreachableStore() to show it\
        """,
        messages(run.aborted()).values().stream()
            .map(message -> message.replace("Assumption failed: ", ""))
            .distinct()
            .collect(joining("\n")));
    assertEquals(TESTS - 6, run.succeeded().count());
  }

  private static DiscoverySelector[] testsOf(Set<String> rules) {
    return Stream.of(PlantStoreContract.class.getDeclaredMethods())
        .filter(method -> rules.contains(method.getName().substring(0, 2)))
        .map(method -> selectMethod(SampleStoreContract.class, method))
        .toArray(DiscoverySelector[]::new);
  }

  private static Events run(DiscoverySelector... tests) {
    return EngineTestKit.engine("junit-jupiter").selectors(tests).execute().testEvents();
  }

  /** Returns the messages of tests that ended by an exception, by their names. */
  private static Map<String, String> messages(Events ended) {
    return ended.stream()
        .collect(
            toMap(
                test -> test.getTestDescriptor().getDisplayName(),
                test ->
                    test.getRequiredPayload(TestExecutionResult.class)
                        .getThrowable()
                        .map(Throwable::getMessage)
                        .orElseThrow(),
                (one, other) -> one + other,
                TreeMap::new));
  }
}
