package org.plantstore.domain.contract;

import static java.util.concurrent.CompletableFuture.delayedExecutor;
import static java.util.concurrent.TimeUnit.MINUTES;

import java.lang.reflect.Constructor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.plantstore.domain.contract.Calls.Form;
import org.plantstore.domain.contract.RuleCheck.Call;

/** Calls a store in a process that will be killed, and prints each plant that the store returns. */
final class Load {

  /**
   * Matches a complete line, which contains an id and a caller number. A line that was cut off when
   * a process was killed does not match.
   */
  static final String LINE = "\\d+ \\d+;";

  static final String OPENING = "opening the store";
  static final String IDLE = "all calls have ended";

  private static final int RACES = 8;
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private Load() {}

  /**
   * Opens the store, calls it for all ids that earlier processes used, calls it for new ids, and
   * then waits to be killed.
   */
  public static void main(String... classProcessTakenAndNew) throws Exception {
    Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
      failure.printStackTrace();
      Runtime.getRuntime().halt(1);
    });
    delayedExecutor(LIMIT.toMinutes(), MINUTES)
        .execute(() -> {
          System.out.println(
              "the store did not open or did not end all calls within " + LIMIT.toSeconds() + " s");
          Runtime.getRuntime().halt(1);
        });
    Constructor<?> constructor = Class.forName(classProcessTakenAndNew[0]).getConstructor();
    System.out.println(OPENING);
    PlantStore store = (PlantStore) constructor.newInstance();
    int process = Integer.parseInt(classProcessTakenAndNew[1]);
    long taken = Long.parseLong(classProcessTakenAndNew[2]);
    call(store, process, 0, taken);
    call(store, process, taken, taken + Long.parseLong(classProcessTakenAndNew[3]));
    while (!System.out.checkError()) { // reports an error once the test has ended
      System.out.println("\n" + IDLE);
      LockSupport.parkNanos(10_000_000);
    }
  }

  /**
   * Starts two callers that compete for each id. One caller uses the blocking form, and the other
   * caller uses the asynchronous form. No two processes share a caller number.
   */
  private static void call(PlantStore store, int process, long first, long end) {
    List<Callable<Object>> callers = new ArrayList<>();
    for (int caller = process * 2 * RACES; caller < (process + 1) * 2 * RACES; caller++) {
      int number = caller;
      callers.add(() -> callAll(store, number, first + number % RACES, end));
    }
    for (Object outcome : Calls.concurrently(callers, LIMIT)) {
      if (outcome instanceof Throwable failure) {
        throw new IllegalStateException("a call did not return a plant", failure);
      }
    }
  }

  private static long callAll(PlantStore store, int caller, long first, long end) {
    Form form = caller / RACES % 2 == 0 ? Form.BLOCKING : Form.ASYNCHRONOUS;
    long id = first;
    while (id < end && !System.out.checkError()) {
      NewPlant plant = Plants.ofLine(id + " " + caller + ";");
      Object outcome = Calls.outcome(new Call(form, store, plant, Calls.CALLERS, ""));
      if (outcome instanceof NewPlant stored
          && stored.name().matches(id + " \\d+;")
          && stored.equals(Plants.ofLine(stored.name()))) {
        System.out.print("\n" + stored.name() + "\n"); // the store may have printed half a line
        id += RACES;
      } else if (outcome instanceof PlantStoreUnavailableException) {
        LockSupport.parkNanos(1_000_000); // for example, while a server starts
      } else {
        Throwable thrown = outcome instanceof Throwable failure ? failure : null;
        String called = "a call with " + Description.of(plant, plant);
        throw new IllegalStateException(called + " had an unexpected outcome: " + outcome, thrown);
      }
    }
    return id;
  }
}
