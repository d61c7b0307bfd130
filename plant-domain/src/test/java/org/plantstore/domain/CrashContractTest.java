package org.plantstore.domain;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.DSYNC;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.testkit.engine.Events;
import org.plantstore.domain.contract.PlantStoreCrashContract;

/** Crashes a sound store, and stores that are not durable. */
@Tag("slow")
class CrashContractTest {

  /** Static, because JUnit creates the instances of the contract. */
  private static Class<? extends PlantStore> store = Log.class;

  private static int crashesOfTheServer;

  static class LogContract extends PlantStoreCrashContract {

    @TempDir Path folder;

    @Override
    protected Class<? extends PlantStore> storeClass() {
      return store;
    }

    @Override
    protected Map<String, String> environment() {
      return Map.of("PLANTS_FILE", folder.resolve("plants").toString());
    }

    @Override
    protected void crashServer() {
      crashesOfTheServer++;
    }

    @Override
    protected int kills() {
      return store == Log.class ? 5 : 100; // the others end earlier
    }
  }

  /** Appends each plant to a file, waits for the disk, and reads the file when it is opened. */
  public static class Log implements PlantStore {

    final Path file = Path.of(System.getenv("PLANTS_FILE"));
    final Map<Long, NewPlant> plants = new HashMap<>();

    public Log() throws IOException {
      String lines = read();
      String whole = lines.substring(0, lines.lastIndexOf('\n') + 1);
      try (FileChannel channel = FileChannel.open(file, CREATE, WRITE)) {
        // A crash may leave half a line. To write the file anew could lose it to the next crash.
        channel.truncate(whole.length());
      }
      for (String line : whole.lines().toList()) {
        String[] fields = line.split("\t", 3);
        String tag = fields.length == 3 ? fields[2] : null;
        recover(new NewPlant(Long.parseLong(fields[0]), fields[1], tag));
      }
    }

    String read() throws IOException {
      return Files.exists(file) ? Files.readString(file) : "";
    }

    void recover(NewPlant plant) {
      plants.putIfAbsent(plant.id(), plant);
    }

    @Override
    public synchronized NewPlant putIfAbsent(NewPlant plant) {
      NewPlant before = plants.putIfAbsent(plant.id(), plant);
      if (before == null) {
        append(plant);
      }
      return before == null ? plant : before;
    }

    void append(NewPlant plant) {
      String tag = plant.tag() == null ? "" : "\t" + plant.tag();
      try {
        Files.writeString(file, plant.id() + "\t" + plant.name() + tag + "\n", APPEND, DSYNC);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  public static class DurableForShortTextsOnly extends Log {

    public DurableForShortTextsOnly() throws IOException {}

    @Override
    void append(NewPlant plant) {
      if (String.valueOf(plant.tag()).length() < 1_000) {
        super.append(plant);
      }
    }
  }

  public static class AcknowledgesBeforeItsCommit extends Log {

    private final ExecutorService writer = Executors.newSingleThreadExecutor();

    public AcknowledgesBeforeItsCommit() throws IOException {}

    @Override
    void append(NewPlant plant) {
      writer.execute(() -> super.append(plant));
    }
  }

  /** Deletes the file before another is written. */
  public static class RewritesItsFile extends Log {

    public RewritesItsFile() throws IOException {}

    @Override
    String read() throws IOException {
      String lines = super.read();
      Files.deleteIfExists(file);
      LockSupport.parkNanos(1_000_000_000); // every kill of an opening comes within 1 s
      Files.writeString(file, lines);
      return lines;
    }
  }

  /** Appends all rivals; the first is returned, but the last is kept. */
  public static class LosesARaceAfterRecovery extends Log {

    public LosesARaceAfterRecovery() throws IOException {}

    @Override
    public synchronized NewPlant putIfAbsent(NewPlant plant) {
      NewPlant first = super.putIfAbsent(plant);
      if (!first.equals(plant)) {
        append(plant);
      }
      return first;
    }

    @Override
    void recover(NewPlant plant) {
      plants.put(plant.id(), plant);
    }
  }

  public static class Throws implements PlantStore {

    @Override
    public NewPlant putIfAbsent(NewPlant plant) {
      throw new UnsupportedOperationException("such names");
    }
  }

  @Test
  void sound_store_passes_and_its_server_is_crashed_with_each_process() {
    crashesOfTheServer = 0;
    assertEquals(List.of(), failures(Log.class));
    assertEquals(5, crashesOfTheServer);
  }

  @ParameterizedTest
  @ValueSource(
      classes = {
        DurableForShortTextsOnly.class,
        AcknowledgesBeforeItsCommit.class,
        RewritesItsFile.class,
        LosesARaceAfterRecovery.class
      })
  void store_that_loses_returned_plants_fails(Class<? extends PlantStore> broken) {
    String message = failures(broken).get(0);
    String expected = "R4 of PlantStore is broken:\n.+\n  must return .+,\n  but returned .+";
    assertTrue(message.matches(expected), message);
  }

  @Test
  void exception_that_may_break_another_rule_is_named() {
    String message = failures(Throws.class).get(0);

    String exception = UnsupportedOperationException.class.getName() + ": such names\n";
    assertTrue(message.contains("(an exception may break another rule)"), message);
    assertTrue(message.contains(exception), message);
  }

  private static List<String> failures(Class<? extends PlantStore> tested) {
    store = tested;
    Events run = PlantStoreContractTest.run(selectClass(LogContract.class));
    assertEquals(1, run.finished().count());
    return List.copyOf(PlantStoreContractTest.messages(run.failed()).values());
  }
}
