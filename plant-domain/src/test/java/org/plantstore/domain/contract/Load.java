package org.plantstore.domain.contract;

import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * A caller of a store for a range of ids. It writes a line for each plant that the store returns.
 * Two callers, one of each form, race for the same ids.
 */
record Load(PlantStore store, int caller, long first, long end) implements Runnable {

  /** An id and the number of a caller. A line that a kill has cut short differs. */
  static final String LINE = "\\d+ \\d+;";

  /** The line of a process whose calls have ended, and the beginning of that of an exception. */
  static final String IDLE = "idle";

  static final String THREW = "threw ";

  private static final int RACES = 8;

  /**
   * Opens the store of a class, calls it for all ids that were taken before, and then for new ones,
   * and waits to be killed. Callers of each process have numbers of their own.
   */
  public static void main(String... classProcessTakenAndNew) throws Exception {
    Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
      System.out.println("\n" + THREW + failure);
      failure.printStackTrace();
      Runtime.getRuntime().halt(1);
    });
    Constructor<?> constructor = Class.forName(classProcessTakenAndNew[0]).getConstructor();
    System.out.println(); // now it opens the store
    PlantStore store = (PlantStore) constructor.newInstance();
    int process = Integer.parseInt(classProcessTakenAndNew[1]);
    long taken = Long.parseLong(classProcessTakenAndNew[2]);
    call(store, process, 0, taken);
    call(store, process, taken, taken + Long.parseLong(classProcessTakenAndNew[3]));
    while (!System.out.checkError()) { // until the test has ended
      System.out.println("\n" + IDLE);
      LockSupport.parkNanos(10_000_000);
    }
  }

  private static void call(PlantStore store, int process, long first, long end) throws Exception {
    List<Thread> callers = new ArrayList<>();
    for (int caller = 0; caller < 2 * RACES; caller++) {
      callers.add(new Thread(new Load(store, process * 2 * RACES + caller, first, end)));
    }
    callers.forEach(Thread::start);
    for (Thread caller : callers) {
      caller.join();
    }
  }

  @Override
  public void run() {
    for (long id = first + caller % RACES; id < end && !System.out.checkError(); ) {
      try {
        write(id, plant(id + " " + caller + ";"));
        id += RACES;
      } catch (PlantStoreUnavailableException e) {
        LockSupport.parkNanos(1_000_000); // such as while a server starts
      }
    }
  }

  private void write(long id, NewPlant plant) {
    NewPlant returned = caller / RACES % 2 == 0 ? store.putIfAbsent(plant) : putAsync(plant);
    String line = returned.name().substring(0, returned.name().indexOf(';') + 1);
    if (!line.startsWith(id + " ") || !line.matches(LINE) || !plant(line).equals(returned)) {
      throw new IllegalStateException(
          "a call with " + Description.of(plant) + " returned " + Description.of(returned));
    }
    System.out.print("\n" + line + "\n"); // the store may have left half a line
  }

  private NewPlant putAsync(NewPlant plant) {
    try {
      return store.putIfAbsentAsync(plant, Call.CALLERS).toCompletableFuture().join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof PlantStoreUnavailableException unavailable ? unavailable : e;
    }
  }

  /** Returns the plant of a line. Some texts are long, and cannot be compressed to short ones. */
  static NewPlant plant(String line) {
    int hash = line.hashCode();
    byte[] random = new byte[hash % 29 == 0 ? 150_000 : 9];
    new SplittableRandom(hash).nextBytes(random);
    long id = Long.parseLong(line, 0, line.indexOf(' '), 10);
    String name = line + Base64.getEncoder().encodeToString(random);
    return new NewPlant(id, name, hash % 3 == 0 ? null : "tag " + line);
  }
}
