package org.plantstore.domain.contract;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.MICROSECONDS;

import java.io.BufferedReader;
import java.io.File;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;

/**
 * Tests a {@link PlantStore} against rule R4 by crashing its process at random moments. To test a
 * store, extend this class.
 *
 * <p>A process opens the store and calls it from 16 threads until the process is killed with {@code
 * SIGKILL}. The calls use both the blocking and the asynchronous form, and both short and long
 * text. Two out of three processes are killed while they make new calls or after their last call.
 * Every third process is killed within one second after it begins to open the store.
 *
 * <p>The next process opens the store again. Each plant that a call returned in an earlier process
 * must still be stored unchanged under its id. If two calls competed for an id when a process was
 * killed, the store may hold either plant. The first process needs an empty store. All processes
 * use the class path of the test.
 *
 * <p>A killed process loses only the data that it has not yet passed to the kernel. This test
 * therefore does not check whether plants survive a power failure. To survive a power failure,
 * plants must be written to the disk.
 */
public abstract class PlantStoreCrashContract {

  private static final int CALLS = 100; // each process repeats all earlier calls
  private static final int LONGEST_OPENING_MICROS = 1_000_000;

  private final Random random = new Random();
  private final TreeMap<Long, NewPlant> returned = new TreeMap<>();

  /** Creates an instance. Subclasses call this constructor. */
  protected PlantStoreCrashContract() {}

  /**
   * {@return the class of the store} The class must be public, and must have a public constructor
   * without parameters that opens the store.
   */
  protected abstract Class<? extends PlantStore> storeClass();

  /**
   * {@return environment variables for the processes, none by default} To set JVM options, use the
   * variable {@code JDK_JAVA_OPTIONS}.
   */
  protected Map<String, String> environment() {
    return Map.of();
  }

  /** {@return the number of crashes, 10 by default} */
  protected int kills() {
    return 10;
  }

  /**
   * Kills the database server, if there is one, and starts it again. The default implementation
   * does nothing. An implementation must kill the server so abruptly that it cannot write any more
   * data. The kit calls this method after each crash of a process.
   *
   * @throws Exception if the server cannot be started. The test then fails.
   */
  protected void crashServer() throws Exception {}

  @Test
  void r4_returned_plants_survive_crashes_at_random_moments(@TempDir Path folder) throws Exception {
    for (int crash = 1; crash <= kills(); crash++) {
      String before = ", after " + returned.size() + " plants were returned,";
      String moment = "in process " + crash + before;
      System.err.println(
          getClass().getSimpleName() + ": testing R4 in process " + crash + " of " + kills());
      boolean whileItOpens = crash % 3 == 0;
      int plants = whileItOpens ? 0 : 1 + random.nextInt(CALLS * 3 / 2);
      killAfter(plants, moment, start(crash, folder, CALLS));
      crashServer();
    }
    killAfter(Integer.MAX_VALUE, "after the last crash", start(0, folder, 0));
  }

  /**
   * Records the plants that a process returns, and kills the process once it has returned the given
   * number of new plants or has ended all calls. If the number is 0, this method kills the process
   * while the process is opening the store.
   */
  private void killAfter(int newPlants, String moment, Process process) throws Exception {
    StringBuilder output = new StringBuilder();
    boolean opened = false;
    long end = (long) returned.size() + newPlants;
    CompletableFuture<Object> crash = new CompletableFuture<>();
    CompletableFuture<Void> unused = crash.thenRun(() -> kill(process));
    try (BufferedReader lines = process.inputReader(UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.equals(Load.OPENING)) {
          opened = true;
          if (newPlants == 0) {
            double delay = Math.pow(LONGEST_OPENING_MICROS, random.nextDouble());
            crash.completeOnTimeout(line, (long) delay, MICROSECONDS);
          }
        } else if (line.matches(Load.LINE)) {
          assertSame(Plants.ofLine(line), moment);
          if (newPlants > 0 && returned.size() == end) {
            crash.complete(line);
          }
        } else if (line.equals(Load.IDLE)) {
          crash.complete(line);
        } else if (!line.isEmpty()) {
          output.append(line).append('\n');
        }
      }
    } finally {
      kill(process);
    }
    if (!opened) {
      throw new IllegalStateException(
          "the process ended before it opened the store, so the store is not at fault. The process"
              + " uses the class path of this JVM (property java.class.path), which must contain"
              + " the tests. Run the tests in a forked JVM (with Surefire, forkCount must not be"
              + " 0). The process wrote:\n"
              + output);
    }
    if (!crash.isDone()) {
      throw violation(
          moment,
          "end all calls within 5 minutes, and run until it is killed (an exception may violate"
              + " another rule)",
          "ended with status " + process.waitFor() + " and wrote:\n" + output);
    }
  }

  /**
   * Records a plant. If an earlier call returned a plant for the same id, the two plants must be
   * equal.
   */
  private void assertSame(NewPlant plant, String moment) {
    NewPlant before = returned.putIfAbsent(plant.id(), plant);
    if (before != null && !before.equals(plant)) {
      String expected = "return " + Description.of(before, plant);
      throw violation(moment, expected, "returned " + Description.of(plant, before));
    }
  }

  /** Kills a process and its descendants. Output that is still in the pipe remains readable. */
  private static void kill(Process process) {
    Stream.concat(process.descendants(), Stream.of(process.toHandle()))
        .toList()
        .forEach(ProcessHandle::destroyForcibly);
  }

  private Process start(int number, Path folder, int newPlants) throws Exception {
    String modules = System.getProperty("jdk.module.path", "");
    String classes = System.getProperty("java.class.path");
    ProcessBuilder java =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1", // the process runs only briefly
                "-Djava.io.tmpdir=" + folder, // a killed process leaves its temporary files behind
                "-cp",
                modules.isEmpty() ? classes : modules + File.pathSeparator + classes,
                Load.class.getName(),
                storeClass().getName(),
                String.valueOf(number),
                String.valueOf(returned.isEmpty() ? 0 : returned.lastKey() + 1),
                String.valueOf(newPlants))
            .redirectErrorStream(true);
    java.environment().putAll(environment());
    return java.start();
  }

  private AssertionError violation(String moment, String expected, String actual) {
    String verdict = "Rule R4 of PlantStore is violated:\n  ";
    String subject = verdict + storeClass().getName() + " " + moment;
    return new AssertionError(subject + "\n  must " + expected + ",\n  but " + actual);
  }
}
