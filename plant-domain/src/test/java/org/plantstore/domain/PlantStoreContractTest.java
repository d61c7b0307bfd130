package org.plantstore.domain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.plantstore.domain.SampleStore.Database;
import org.plantstore.domain.contract.PlantStoreContract;

/** The contract fails where a rule is broken, and nowhere else. */
class PlantStoreContractTest {

  static final String R1 = "r1_a_free_id_is_stored_and_an_equal_plant_is_answered";
  static final String R2 = "r2_a_taken_id_changes_nothing_and_the_stored_plant_is_answered";
  static final String R3 = "r3_of_concurrent_calls_one_wins_and_every_call_answers_the_winner";
  static final String R3_TWO_INSTANCES = "r3_of_concurrent_calls_through_two_instances_one_wins";
  static final String R4 = "r4_what_was_answered_survives_a_crash";
  static final String R5 = "r5_text_is_kept_exactly";
  static final String R6 = "r6_every_long_is_an_id";
  static final String R7 = "r7_a_failure_says_that_trying_again_can_help_and_trying_again_is_safe";
  static final String R8 = "r8_many_threads_use_one_store";
  static final String R9 = "r9_null_is_refused";

  private static final Set<String> ALL =
      Set.of(R1, R2, R3, R3_TWO_INSTANCES, R4, R5, R6, R7, R8, R9);

  /** Here because JUnit makes the instances of the contract itself. */
  private static SampleStore sample = SampleStore.SOUND;

  @AfterEach
  void forgetSample() {
    sample = SampleStore.SOUND;
  }

  static class SampleStoreContract extends PlantStoreContract {

    private final Database database = new Database();
    private final PlantStore store = sample.store.apply(database);

    @Override
    protected PlantStore store() {
      return store;
    }

    @Override
    protected PlantStore anotherStore() {
      return sample.store.apply(database);
    }

    @Override
    protected PlantStore storeAfterCrash() {
      database.crash();
      return anotherStore();
    }

    @Override
    protected PlantStore unreachableStore() {
      return sample.unreachableStore.apply(database);
    }

    @Override
    protected Duration timeLimit() {
      return sample == SampleStore.HANGS_AFTER_A_FAILURE
          ? Duration.ofSeconds(2)
          : super.timeLimit();
    }
  }

  static class StoreOnlyContract extends PlantStoreContract {

    private final PlantStore store = SampleStore.SOUND.store.apply(new Database());

    @Override
    protected PlantStore store() {
      return store;
    }
  }

  @ParameterizedTest
  @EnumSource
  @Timeout(20) // one that hangs takes 2 s, unless its calls are waited for in turn
  void tests_of_the_broken_rule_fail_and_no_others(SampleStore tried) throws IOException {
    sample = tried;

    Run run = Run.of(SampleStoreContract.class);

    assertEquals(tried.failedTests, run.failed.keySet(), run.failed.toString());
    assertEquals(Map.of(), run.aborted);
    assertEquals(ALL.size() - tried.failedTests.size(), run.passed.size());
    for (Map.Entry<String, String> failure : run.failed.entrySet()) {
      String rule = failure.getKey().substring(0, 2).toUpperCase(Locale.ROOT);
      assertMatches(
          Pattern.quote(rule + " is broken: " + words(rule))
              + "\n  putIfAbsent\\(.+\n  must .+,\n  but (answered|threw|had not returned) .+",
          failure.getValue());
    }
  }

  @Test
  void tests_that_need_more_than_a_store_are_aborted_without_it() {
    Run run = Run.of(StoreOnlyContract.class);

    assertEquals(
        Map.of(
            R3_TWO_INSTANCES,
            "R3 is not shown through two instances: override anotherStore() to show it",
            R4,
            "R4 is not shown: override storeAfterCrash() to show it",
            R7,
            "R7 is not shown: override unreachableStore() to show it"),
        run.aborted);
    assertEquals(Map.of(), run.failed);
    assertEquals(ALL.size() - 3, run.passed.size());
  }

  @Test
  void failure_messages_show_what_cannot_be_seen_and_shorten_what_is_long() {
    sample = SampleStore.NORMALISES;
    assertEndsWith(
        """
          putIfAbsent(id 11, name "e\\u0301 decomposed", tag "e\\u0301 decomposed") for a free id
          must answer id 11, name "e\\u0301 decomposed", tag "e\\u0301 decomposed",
          but answered id 11, name "\\u00E9 decomposed", tag "\\u00E9 decomposed"\
        """,
        Run.of(SampleStoreContract.class).failed.get(R5));

    sample = SampleStore.TRUNCATES_AT_65535_BYTES;
    String start = "\"" + "x".repeat(40) + "\" (from index 0, of 2097153 characters)";
    String longer = "\"" + "x".repeat(40) + "\" (from index 65525, of 2097153 characters)";
    String shorter = "\"" + "x".repeat(10) + "\" (from index 65525, of 65535 characters)";
    assertEndsWith(
        """
          putIfAbsent(id 23, name %s, tag %s) for a free id
          must answer id 23, name %s, tag %s,
          but answered id 23, name %s, tag %s\
        """
            .formatted(start, start, longer, longer, shorter, shorter),
        Run.of(SampleStoreContract.class).failed.get(R5));
  }

  /** A run of a contract: its tests, and the messages of those that did not pass. */
  private static final class Run implements TestExecutionListener {

    final Set<String> passed = new TreeSet<>();
    final Map<String, String> failed = new TreeMap<>();
    final Map<String, String> aborted = new TreeMap<>();

    static Run of(Class<? extends PlantStoreContract> contract) {
      Run run = new Run();
      LauncherFactory.create()
          .execute(
              LauncherDiscoveryRequestBuilder.request().selectors(selectClass(contract)).build(),
              run);
      return run;
    }

    @Override
    public void executionFinished(TestIdentifier identifier, TestExecutionResult result) {
      if (identifier.isTest()) {
        String test = identifier.getDisplayName().replace("()", "");
        String message = result.getThrowable().map(Throwable::getMessage).orElse("");
        switch (result.getStatus()) {
          case SUCCESSFUL -> passed.add(test);
          case FAILED -> failed.put(test, message);
          case ABORTED -> aborted.put(test, message.replace("Assumption failed: ", ""));
        }
      }
    }
  }

  /** What the rule says, in the words of {@link PlantStore}. */
  private static String words(String rule) throws IOException {
    String javadoc =
        Files.readString(Path.of("src/main/java/org/plantstore/domain/PlantStore.java"));
    String words = javadoc.split("<b>" + rule + "</b>", 2)[1].split("<li>|</ul>", 2)[0];
    return words
        .replaceAll("\\s+(\\*\\s+)?", " ")
        .replaceAll("\\{@(?:code|link) (\\w+)}", "$1")
        .strip();
  }

  private static void assertMatches(String pattern, String message) {
    assertTrue(Pattern.compile(pattern, Pattern.DOTALL).matcher(message).matches(), message);
  }

  private static void assertEndsWith(String end, @Nullable String message) {
    assertTrue(message != null && message.endsWith(end), message);
  }
}
