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
 * Tests rule R4 of a {@link PlantStore} by crashes at random moments during calls. A process opens
 * the store, and calls it from 16 threads, in both forms, with short and with long texts, until it
 * is killed ({@code SIGKILL}): of three processes two during new calls or after the last of them,
 * and one within a second after it has begun to open the store. The next process opens the store
 * again: each plant that was returned before must be there, be equal, and be the only one with its
 * id. Of the rivals for an id that was in flight, either may be there. The first process needs an
 * empty store. All processes have the class path of this one.
 *
 * <p>A killed process loses only what it has not handed to the kernel. A power failure, which a
 * plant survives only if it is also on the disk, is not tested.
 */
public abstract class PlantStoreCrashContract {

  private static final int CALLS = 100; // few: each process calls for all plants again
  private static final int LONGEST_OPENING_MICROS = 1_000_000;

  private final Random random = new Random();
  private final TreeMap<Long, NewPlant> returned = new TreeMap<>();

  /** Constructor for subclasses. */
  protected PlantStoreCrashContract() {}

  /** {@return the public class of the store} Its public constructor without parameters opens it. */
  protected abstract Class<? extends PlantStore> storeClass();

  /** {@return variables for the processes} {@code JDK_JAVA_OPTIONS} has options of their JVMs. */
  protected Map<String, String> environment() {
    return Map.of();
  }

  /** {@return the number of crashes, 10 by default} */
  protected int kills() {
    return 10;
  }

  /**
   * Kills the server of the database, if it has one, and starts it again; by default, does nothing.
   * The server must have no chance to write anything more. A process has been killed just before.
   *
   * @throws Exception if the server cannot be started; the test fails
   */
  protected void crashServer() throws Exception {}

  @Test
  void r4_returned_plants_survive_crashes_at_random_moments(@TempDir Path folder) throws Exception {
    for (int crash = 1; crash <= kills(); crash++) {
      String moment = "in process " + crash + ", with " + returned.size() + " plants before,";
      System.err.println(getClass().getSimpleName() + ": R4 " + moment + " of " + kills());
      boolean whileItOpens = crash % 3 == 0;
      int plants = whileItOpens ? 0 : 1 + random.nextInt(CALLS * 3 / 2);
      killAfter(plants, moment, start(crash, folder, CALLS));
      crashServer();
    }
    killAfter(Integer.MAX_VALUE, "after the last crash", start(0, folder, 0));
  }

  /**
   * Adds the plants that a process returns, after it has called for those of earlier processes, and
   * kills it after so many new ones, or all of them; if the number is 0, while it opens its store.
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
          "no process has come as far as the store, which is not at fault. A process has the class"
              + " path of this JVM, the property java.class.path, which must be that of the tests:"
              + " fork a JVM for them (with Surefire, forkCount must not be 0). It wrote:\n"
              + output);
    }
    if (!crash.isDone()) {
      throw broken(
          moment,
          "run until it is killed (an exception may break another rule), within 5 minutes",
          "ended with status " + process.waitFor() + ", and wrote:\n" + output);
    }
  }

  /** Adds a plant, which must be that of earlier processes for its id. */
  private void assertSame(NewPlant plant, String moment) {
    NewPlant before = returned.putIfAbsent(plant.id(), plant);
    if (before != null && !before.equals(plant)) {
      String expected = "return " + Description.of(before, plant);
      throw broken(moment, expected, "returned " + Description.of(plant, before));
    }
  }

  /** Kills a process and those that it has started, and keeps the lines in the pipe. */
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
                "-XX:TieredStopAtLevel=1", // most of its life is its start
                "-Djava.io.tmpdir=" + folder, // when it is killed, temporary files remain
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

  private AssertionError broken(String moment, String expected, String actual) {
    String subject = "R4 of PlantStore is broken:\n  " + storeClass().getName() + " " + moment;
    return new AssertionError(subject + "\n  must " + expected + ",\n  but " + actual);
  }
}
