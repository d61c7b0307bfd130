package org.plantstore.domain.contract;

import java.util.Base64;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * A caller of a store until the process is killed. It writes a line for each plant that the store
 * returns. Two callers, one of each form, race for the same ids.
 */
record Load(PlantStore store, int caller) implements Runnable {

  /** An id and the number of a caller. A line that a kill has cut short differs. */
  static final String LINE = "\\d+ \\d+;";

  private static final int RACES = 8;

  /** Opens the store of a class. Callers of each process have numbers of their own. */
  public static void main(String... classAndProcess) throws Exception {
    Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
      failure.printStackTrace();
      Runtime.getRuntime().halt(1);
    });
    Class<?> type = Class.forName(classAndProcess[0]);
    PlantStore store = (PlantStore) type.getConstructor().newInstance();
    int first = Integer.parseInt(classAndProcess[1]) * 2 * RACES;
    for (int caller = first; caller < first + 2 * RACES; caller++) {
      new Thread(new Load(store, caller)).start();
    }
  }

  @Override
  public void run() {
    for (long id = caller % RACES; !System.out.checkError(); ) { // until the test has ended
      try {
        write(id, plant(id + " " + caller + ";"));
        id += RACES;
      } catch (PlantStoreUnavailableException e) {
        LockSupport.parkNanos(1_000_000); // such as while a server starts
      }
    }
    Runtime.getRuntime().halt(0);
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
