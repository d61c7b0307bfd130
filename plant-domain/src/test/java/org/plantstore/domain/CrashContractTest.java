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

/** Crashes a sound store, and the same store with one fault each. */
@Tag("slow")
class CrashContractTest {

  enum Fault {
    NONE,
    ACKNOWLEDGES_BEFORE_ITS_COMMIT,
    /** Deletes the file before another is written. */
    REWRITES_ITS_FILE,
    /** Appends all rivals; the first is returned, but the last is kept. */
    LOSES_A_RACE_AFTER_RECOVERY,
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
      return fault == Fault.NONE ? 5 : 100; // the others end earlier
    }
  }

  /** Appends each plant to a file, waits for the disk, and reads the file when it is opened. */
  public static class Log implements PlantStore {

    private static final Path FILE = Path.of(System.getenv("PLANTS_FILE"));
    private static final String LINES = readFile();

    private final Fault fault = Fault.valueOf(System.getProperty("fault"));
    private final Executor disk =
        fault == Fault.ACKNOWLEDGES_BEFORE_ITS_COMMIT ? newSingleThreadExecutor() : Runnable::run;
    private final Map<Long, NewPlant> plants = new HashMap<>();

    /** Runs before the process reports that it opens the store, so no kill comes too early. */
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
        LockSupport.parkNanos(1_000_000_000); // every kill of an opening comes within 1 s
        Files.writeString(FILE, LINES);
      }
      for (String line : LINES.lines().toList()) {
        String[] fields = line.split("\t", -1);
        if (line.endsWith("\tend")) { // a crash may leave half a line
          String tag = fields.length == 4 ? fields[2] : null;
          NewPlant plant = new NewPlant(Long.parseLong(fields[0]), fields[1], tag);
          if (fault == Fault.LOSES_A_RACE_AFTER_RECOVERY || !plants.containsKey(plant.id())) {
            plants.put(plant.id(), plant);
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
      if (before == null || fault == Fault.LOSES_A_RACE_AFTER_RECOVERY) {
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
    "ACKNOWLEDGES_BEFORE_ITS_COMMIT, return .+, returned .+",
    "REWRITES_ITS_FILE, return .+, returned .+",
    "LOSES_A_RACE_AFTER_RECOVERY, return .+, returned .+",
    "THROWS, run .+ \\(an exception may break another rule\\).+,"
        + " (?s).+UnsupportedOperationException: such names.+"
  })
  void store_with_a_fault_fails_and_is_told_why(Fault broken, String must, String but) {
    String message = failures(broken).get(0);
    String expected = "R4 of PlantStore is broken:\n.+\n  must " + must + ",\n  but " + but;
    assertTrue(message.matches(expected), message);
  }

  private static List<String> failures(Fault tested) {
    fault = tested;
    Events run = PlantStoreContractTest.run(selectClass(LogContract.class));
    assertEquals(1, run.finished().count());
    return PlantStoreContractTest.messages(run.failed());
  }
}
