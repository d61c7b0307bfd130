package org.plantstore.domain.contract;

import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.List;
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

  /** The lines of a process that is about to open its store, and of one whose calls have ended. */
  static final String OPENING = "opening";

  static final String IDLE = "idle";

  private static final int RACES = 8;

  /**
   * Opens the store of a class, calls it for all ids that were taken before, and then for new ones,
   * and waits to be killed. Callers of each process have numbers of their own.
   */
  public static void main(String... classProcessTakenAndNew) throws Exception {
    Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
      failure.printStackTrace();
      Runtime.getRuntime().halt(1);
    });
    Constructor<?> constructor = Class.forName(classProcessTakenAndNew[0]).getConstructor();
    System.out.println(OPENING);
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
        write(id, Plants.ofLine(id + " " + caller + ";"));
        id += RACES;
      } catch (PlantStoreUnavailableException e) {
        LockSupport.parkNanos(1_000_000); // such as while a server starts
      }
    }
  }

  private void write(long id, NewPlant plant) {
    Object outcome =
        caller / RACES % 2 == 0
            ? store.putIfAbsent(plant)
            : Calls.await(store.putIfAbsentAsync(plant, Calls.CALLERS));
    if (outcome instanceof RuntimeException failure) {
      throw failure;
    }
    String line = outcome instanceof NewPlant returned ? returned.name() : "";
    if (!line.startsWith(id + " ") || !line.matches(LINE) || !Plants.ofLine(line).equals(outcome)) {
      throw new IllegalStateException(
          "a call with " + Description.of(plant) + " has another outcome than a plant: " + outcome);
    }
    System.out.print("\n" + line + "\n"); // the store may have left half a line
  }
}
