package org.plantstore.domain.contract;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.toMap;

import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.contract.Call.Form;

/** Calls a store until the process is killed, and writes a line for each plant that it returns. */
record Load(PlantStore store) implements PlantStore {

  /** An id, and the number of one of its rivals. A line that a kill has cut short differs. */
  static final String LINE = "\\d+ [01]";

  /** Opens the store of a class; standard input lists the plants that were returned before. */
  public static void main(String... storeClass) throws Exception {
    Thread.currentThread().setUncaughtExceptionHandler(Load::end);
    String input = new String(System.in.readAllBytes(), UTF_8);
    Map<Long, String> returned =
        input.lines().collect(toMap(line -> plant(line).id(), line -> line));
    Class<?> store = Class.forName(storeClass[0]);
    Load load = new Load((PlantStore) store.getConstructor().newInstance());
    AtomicLong ids = new AtomicLong();
    for (int caller = 0; caller < 8; caller++) { // of two rivals each
      Thread thread = new Thread(() -> load.run(ids, returned));
      thread.setUncaughtExceptionHandler(Load::end);
      thread.start();
    }
  }

  private void run(AtomicLong ids, Map<Long, String> returned) {
    while (!System.out.checkError()) { // until the test has ended
      long id = ids.getAndIncrement();
      call(id, returned.get(id));
    }
    Runtime.getRuntime().halt(0);
  }

  private static synchronized void end(Thread thread, Throwable failure) {
    failure.printStackTrace();
    Runtime.getRuntime().halt(1);
  }

  /** Lets rivals take an id, which may have been in flight, or one rival the id of the other. */
  private void call(long id, @Nullable String returned) {
    NewPlant one = plant(id + " 0");
    NewPlant other = plant(id + " 1");
    Form form = id % 2 == 0 ? Form.BLOCKING : Form.ASYNCHRONOUS;
    RuleCheck r4 = new RuleCheck("R4", form, Duration.ofSeconds(60));
    if (returned == null) {
      Call call = r4.call(this, one, "together with a rival");
      Call rival = new Call(form.other(), this, other, Call.CALLERS, "together with a rival");
      r4.assertOneWins(List.of(call, rival));
    } else if (returned.endsWith("0")) {
      r4.assertReturns(one, this, other, "for an id taken before a crash");
    } else {
      r4.assertReturns(other, this, one, "for an id taken before a crash");
    }
  }

  /** Returns the plant of a line. Some texts are long, and cannot be compressed to short ones. */
  static NewPlant plant(String line) {
    int hash = line.hashCode();
    byte[] random = new byte[hash % 29 == 0 ? 150_000 : 9];
    new SplittableRandom(hash).nextBytes(random);
    String name = "r4 rival " + line + " " + Base64.getEncoder().encodeToString(random);
    long id = Long.parseLong(line, 0, line.indexOf(' '), 10);
    return new NewPlant(id, name, hash % 3 == 0 ? null : "tag " + line);
  }

  @Override
  public NewPlant putIfAbsent(NewPlant plant) {
    return written(plant.id(), store.putIfAbsent(plant));
  }

  @Override
  public CompletionStage<NewPlant> putIfAbsentAsync(NewPlant plant, Executor executor) {
    return store
        .putIfAbsentAsync(plant, executor)
        .thenApply(returned -> written(plant.id(), returned));
  }

  private static NewPlant written(long id, NewPlant returned) {
    for (String line : List.of(id + " 0", id + " 1")) {
      if (plant(line).equals(returned)) {
        System.out.print("\n" + line + "\n"); // the store may have left half a line
      }
    }
    return returned;
  }
}
