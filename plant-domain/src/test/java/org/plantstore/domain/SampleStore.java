package org.plantstore.domain;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.InvalidPlantException.Violation;

/** A store that keeps every rule, and the same store with one realistic fault. */
final class SampleStore implements PlantStore {

  /** A fault, with the beginning of the names of the tests that find it. */
  enum Fault {
    NONE(""),
    /** No fault: its engine cannot take them. */
    REFUSES_LONG_TEXTS(""),
    FORGETS_AFTER_TWO_SECONDS("r1"),
    IGNORES_CASE("r2"),
    READS_THEN_WRITES("r3"),
    LOCKS_WITHIN_ITS_INSTANCE("r3_of_concurrent_calls_through_two"),
    WRITES_TEN_PLANTS_TOGETHER("r4"),
    TRUNCATES("r5"),
    TAKES_NO_TAG_FOR_AN_EMPTY_ONE("r5"),
    KEEPS_IDS_AS_DOUBLES("r6"),
    LEAKS_A_CAUSE("r7_a_failure"),
    WAITS_FOR_A_SILENT_SERVER("r7_a_silent"),
    NEVER_CONNECTS_AGAIN("r7_a_silent"),
    KEEPS_A_LOCK_AFTER_AN_INTERRUPT("r7_an_interrupt"),
    BLOCKS_ITS_CALLER("r7_the_asynchronous"),
    WRAPS_FAILURES("r7_a_failure"),
    HAS_ONE_CONNECTION_AND_DOES_NOT_WAIT("r8_many"),
    SHARES_ONE_STATEMENT("r8_many"),
    SHARES_ONE_FUTURE("r8_a_call"),
    REFUSES_NULL_IN_ITS_OWN_WAY("r9");

    final String tests;

    Fault(String tests) {
      this.tests = tests;
    }
  }

  /** A memory, and a disk that survives a crash. */
  record Database(Map<Long, NewPlant> memory, Map<Long, NewPlant> disk) {

    Database() {
      this(new ConcurrentHashMap<>(), new ConcurrentHashMap<>());
    }

    void crash() {
      memory.clear();
      memory.putAll(disk);
    }
  }

  private final Fault fault;
  private final Database database;
  private final @Nullable InetSocketAddress server;
  private final Semaphore connection = new Semaphore(1);
  private volatile long lastCall = System.nanoTime();
  private volatile boolean hasFailed;
  private volatile NewPlant parameters = new NewPlant(0, "", null);
  private volatile CompletionStage<NewPlant> running = CompletableFuture.completedStage(parameters);

  /** Creates an instance that asks the server before it stores a plant, if there is one. */
  SampleStore(Fault fault, Database database, @Nullable InetSocketAddress server) {
    this.fault = fault;
    this.database = database;
    this.server = server;
  }

  @Override
  @SuppressWarnings("NullAway") // a fault treats null in its own way
  public NewPlant putIfAbsent(NewPlant plant) {
    switch (fault) {
      case REFUSES_LONG_TEXTS -> {
        if ((plant.name() + plant.tag()).length() > 255) {
          throw new InvalidPlantException(
              plant, List.of(new Violation("tag", "must be shorter")));
        }
      }
      case FORGETS_AFTER_TWO_SECONDS -> {
        if (System.nanoTime() - lastCall > 2_000_000_000) {
          database.memory.clear();
        }
        lastCall = System.nanoTime();
      }
      case IGNORES_CASE -> {
        NewPlant stored = insert(plant);
        return stored.toString().equalsIgnoreCase(plant.toString()) ? plant : stored;
      }
      case READS_THEN_WRITES -> {
        return readThenWrite(plant);
      }
      case LOCKS_WITHIN_ITS_INSTANCE -> {
        synchronized (this) {
          return readThenWrite(plant);
        }
      }
      case WRITES_TEN_PLANTS_TOGETHER -> {
        NewPlant stored = database.memory.computeIfAbsent(plant.id(), id -> plant);
        if (database.memory.size() % 10 == 0) {
          database.disk.putAll(database.memory);
        }
        return stored;
      }
      case TRUNCATES -> {
        String tag = plant.tag();
        boolean isLong = tag != null && tag.length() > 1 << 16;
        return insert(
            new NewPlant(plant.id(), plant.name(), isLong ? tag.substring(0, 1 << 16) : tag));
      }
      case TAKES_NO_TAG_FOR_AN_EMPTY_ONE -> {
        return insert(new NewPlant(plant.id(), plant.name(), Objects.toString(plant.tag(), "")));
      }
      case KEEPS_IDS_AS_DOUBLES -> {
        return insert(new NewPlant((long) (double) plant.id(), plant.name(), plant.tag()));
      }
      case NEVER_CONNECTS_AGAIN -> {
        if (hasFailed) {
          throw new PlantStoreUnavailableException("the connection is closed");
        }
      }
      case KEEPS_A_LOCK_AFTER_AN_INTERRUPT -> {
        connection.acquireUninterruptibly();
        roundTrip();
        if (Thread.currentThread().isInterrupted()) {
          throw new PlantStoreUnavailableException("interrupted");
        }
        connection.release();
      }
      case HAS_ONE_CONNECTION_AND_DOES_NOT_WAIT -> {
        if (!connection.tryAcquire()) {
          throw new PlantStoreUnavailableException("no connection is free");
        }
        roundTrip();
        connection.release();
      }
      case SHARES_ONE_STATEMENT -> {
        parameters = plant;
        roundTrip();
        return insert(parameters);
      }
      case REFUSES_NULL_IN_ITS_OWN_WAY -> {
        if (plant == null) {
          throw new IllegalArgumentException("no plant");
        }
      }
      default -> {}
    }
    return insert(plant);
  }

  @Override
  public CompletionStage<NewPlant> putIfAbsentAsync(NewPlant plant, Executor executor) {
    requireNonNull(plant);
    requireNonNull(executor);
    Supplier<NewPlant> call =
        () -> {
          NewPlant stored = putIfAbsent(plant);
          LockSupport.parkNanos(1_000_000);
          return stored;
        };
    switch (fault) {
      case BLOCKS_ITS_CALLER -> {
        return CompletableFuture.completedFuture(call.get());
      }
      case WRAPS_FAILURES -> {
        return CompletableFuture.supplyAsync(call, executor);
      }
      case SHARES_ONE_FUTURE -> {
        if (running.toCompletableFuture().isDone()) {
          running = CompletableFuture.supplyAsync(call, executor);
        }
        return running;
      }
      default -> {
        return PlantStore.super.putIfAbsentAsync(plant, executor);
      }
    }
  }

  private NewPlant insert(NewPlant plant) {
    askServer();
    NewPlant stored = database.memory.computeIfAbsent(plant.id(), id -> plant);
    database.disk.putIfAbsent(stored.id(), stored);
    return new NewPlant(stored.id(), stored.name(), stored.tag());
  }

  private NewPlant readThenWrite(NewPlant plant) {
    NewPlant stored = database.memory.get(plant.id());
    roundTrip();
    if (stored == null) {
      database.memory.put(plant.id(), plant);
    }
    return stored == null ? plant : stored;
  }

  /** Takes as long as a call over a network, which keeps a race open longer than a map does. */
  private static void roundTrip() {
    LockSupport.parkNanos(50_000);
  }

  private void askServer() {
    if (server == null) {
      return;
    }
    try (Socket socket = new Socket(server.getAddress(), server.getPort())) {
      socket.setSoTimeout(fault == Fault.WAITS_FOR_A_SILENT_SERVER ? 0 : 100);
      if (socket.getInputStream().read() != 1) {
        throw new IOException("no answer");
      }
    } catch (IOException e) {
      hasFailed = true;
      PlantStoreUnavailableException failure = new PlantStoreUnavailableException("no answer");
      if (fault == Fault.LEAKS_A_CAUSE) {
        failure.initCause(e);
      }
      throw failure;
    }
  }
}
