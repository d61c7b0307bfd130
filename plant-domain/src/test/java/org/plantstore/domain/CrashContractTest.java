package org.plantstore.domain;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.DSYNC;
import static java.util.concurrent.Executors.newSingleThreadExecutor;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.platform.testkit.engine.Events;
import org.plantstore.domain.contract.PlantStoreCrashContract;

/** Crashes a sound store and several faulty variants. */
@Tag("slow")
class CrashContractTest {

  enum Fault {
    NONE,
    RETURNS_BEFORE_THE_COMMIT,
    /** Deletes the file before writing the new one. */
    REWRITES_ITS_FILE,
    /** Appends all rivals, and returns the first one before a crash but the last one afterward. */
    RETURNS_ANOTHER_WINNER_AFTER_RECOVERY,
    THROWS
  }

  /** Static, because JUnit creates the instances of the contract. */
  private static Fault fault = Fault.NONE;

  private static int crashesOfTheServer;

  static class LogContract extends PlantStoreCrashContract {

    @TempDir Path folder;

    @Override
    protected Class<? extends PlantStore> storeClass() {
      return Log.class;
    }

    @Override
    protected Map<String, String> environment() {
      return Map.of(
          "PLANTS_FILE",
          folder.resolve("plants").toString(),
          "JDK_JAVA_OPTIONS",
          "-Dfault=" + fault.name());
    }

    @Override
    protected void crashServer() {
      crashesOfTheServer++;
    }

    @Override
    protected int kills() {
      return fault == Fault.NONE ? 5 : 100; // faulty stores fail earlier
    }
  }

  /** Reads a file when the store is opened, appends each plant to it, and waits for the disk. */
  public static class Log implements PlantStore {

    private static final Path FILE = Path.of(System.getenv("PLANTS_FILE"));
    private static final String LINES = readFile();

    private final Fault fault = Fault.valueOf(System.getProperty("fault"));
    private final Executor disk =
        fault == Fault.RETURNS_BEFORE_THE_COMMIT ? newSingleThreadExecutor() : Runnable::run;
    private final Map<Long, NewPlant> plants = new HashMap<>();

    /**
     * Reads the file before the process reports that it opens the store. The process is killed only
     * after that report.
     */
    private static String readFile() {
      try {
        String lines = Files.exists(FILE) ? Files.readString(FILE) : "";
        if (System.getProperty("fault").equals(Fault.REWRITES_ITS_FILE.name())) {
          Files.deleteIfExists(FILE);
        }
        return lines;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    public Log() throws IOException {
      if (fault == Fault.REWRITES_ITS_FILE) {
        LockSupport.parkNanos(1_000_000_000); // a process that opens its store is killed within 1 s
        Files.writeString(FILE, LINES);
      }
      for (String line : LINES.lines().toList()) {
        String[] fields = line.split("\t", -1);
        if (line.endsWith("\tend")) { // a crash may leave an incomplete line
          String tag = fields.length == 4 ? fields[2] : null;
          NewPlant plant = new NewPlant(Long.parseLong(fields[0]), fields[1], tag);
          if (fault == Fault.RETURNS_ANOTHER_WINNER_AFTER_RECOVERY) {
            plants.put(plant.id(), plant);
          } else {
            plants.putIfAbsent(plant.id(), plant);
          }
        }
      }
    }

    @Override
    public synchronized NewPlant putIfAbsent(NewPlant plant) {
      if (fault == Fault.THROWS) {
        throw new UnsupportedOperationException("such names");
      }
      NewPlant before = plants.putIfAbsent(plant.id(), plant);
      if (before == null || fault == Fault.RETURNS_ANOTHER_WINNER_AFTER_RECOVERY) {
        disk.execute(() -> append(plant));
      }
      return before == null ? plant : before;
    }

    private void append(NewPlant plant) {
      String tag = plant.tag() == null ? "" : plant.tag() + "\t";
      String line = "\n" + plant.id() + "\t" + plant.name() + "\t" + tag + "end";
      assertDoesNotThrow(() -> Files.writeString(FILE, line, CREATE, APPEND, DSYNC));
    }
  }

  @Test
  void sound_store_passes_and_its_server_is_crashed_with_each_process() {
    crashesOfTheServer = 0;
    assertEquals(List.of(), failures(Fault.NONE));
    assertEquals(5, crashesOfTheServer);
  }

  @ParameterizedTest
  @CsvSource({
    "RETURNS_BEFORE_THE_COMMIT, return .+, returned .+",
    "REWRITES_ITS_FILE, return .+, returned .+",
    "RETURNS_ANOTHER_WINNER_AFTER_RECOVERY, return .+, returned .+",
    "THROWS, end all calls .+ \\(an exception may violate another rule\\),"
        + " (?s)ended .+UnsupportedOperationException: such names.+"
  })
  void faulty_store_fails_with_a_message_that_explains_the_failure(
      Fault tested, String must, String but) {
    String message = failures(tested).get(0);
    String expected = "Rule R4 of PlantStore is violated:\n.+\n  must " + must + ",\n  but " + but;
    assertTrue(message.matches(expected), message);
  }

  private static List<String> failures(Fault tested) {
    fault = tested;
    Events run = PlantStoreContractTest.run(selectClass(LogContract.class));
    assertEquals(1, run.finished().count());
    return PlantStoreContractTest.messages(run.failed());
  }
}
