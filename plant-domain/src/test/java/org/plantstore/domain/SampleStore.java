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
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.InvalidPlantException.Violation;

/**
 * Stores that keep every rule, and one or two for each test that fail it by a realistic mistake.
 */
@SuppressWarnings("ImmutableEnumChecker") // the checker does not know lambdas
enum SampleStore {
  SOUND("", Instance::putIfAbsent),
  REFUSES_LONG_TEXTS(
      "",
      (instance, plant) -> {
        if ((plant.name() + plant.tag()).length() > 255) {
          throw new InvalidPlantException(List.of(new Violation("tag", "must be shorter")));
        }
        return instance.putIfAbsent(plant);
      }),

  STORES_NOTHING("r1", (instance, plant) -> requireNonNull(plant)),
  FORGETS_AFTER_TWO_SECONDS(
      "r1",
      (instance, plant) -> {
        if (System.nanoTime() - instance.lastCall > 2_000_000_000) {
          instance.database.memory.clear();
        }
        instance.lastCall = System.nanoTime();
        return instance.putIfAbsent(plant);
      }),
  IGNORES_CASE(
      "r2",
      (instance, plant) -> {
        NewPlant stored = instance.putIfAbsent(plant);
        return stored.toString().equalsIgnoreCase(plant.toString()) ? plant : stored;
      }),
  READS_THEN_WRITES("r3", Instance::readThenWrite),
  LOCKS_WITHIN_ITS_INSTANCE(
      "r3_of_concurrent_calls_through_two",
      (instance, plant) -> {
        synchronized (instance) {
          return instance.readThenWrite(plant);
        }
      }),
  WRITES_TEN_PLANTS_TOGETHER(
      "r4",
      (instance, plant) -> {
        Map<Long, NewPlant> memory = instance.database.memory;
        NewPlant stored = memory.computeIfAbsent(plant.id(), id -> plant);
        if (memory.size() % 10 == 0) {
          instance.database.disk.putAll(memory);
        }
        return stored;
      }),
  TRUNCATES(
      "r5",
      (instance, plant) -> {
        String name = plant.name().substring(0, Math.min(plant.name().length(), 1 << 16));
        return instance.putIfAbsent(new NewPlant(plant.id(), name, plant.tag()));
      }),
  TAKES_NO_TAG_FOR_AN_EMPTY_ONE(
      "r5",
      (instance, plant) -> {
        String tag = Objects.toString(plant.tag(), "");
        return instance.putIfAbsent(new NewPlant(plant.id(), plant.name(), tag));
      }),
  KEEPS_IDS_AS_DOUBLES(
      "r6",
      (instance, plant) -> {
        long id = (long) (double) plant.id();
        return instance.putIfAbsent(new NewPlant(id, plant.name(), plant.tag()));
      }),
  LEAKS_A_CAUSE(
      "r7_a_failure",
      (instance, plant) -> {
        try {
          return instance.putIfAbsent(plant);
        } catch (PlantStoreUnavailableException e) {
          e.initCause(new IOException("the engine's own"));
          throw e;
        }
      }),
  WAITS_FOR_A_SILENT_SERVER(
      "r7_a_silent",
      (instance, plant) -> {
        instance.askServer(0); // without a limit
        return instance.putIfAbsent(plant);
      }),
  NEVER_CONNECTS_AGAIN(
      "r7_a_silent",
      (instance, plant) -> {
        if (instance.failed) {
          throw new PlantStoreUnavailableException("the connection is closed");
        }
        return instance.putIfAbsent(plant);
      }),
  KEEPS_A_LOCK_AFTER_AN_INTERRUPT(
      "r7_an_interrupt",
      (instance, plant) -> {
        instance.lock.acquireUninterruptibly();
        Instance.roundTrip();
        if (Thread.currentThread().isInterrupted()) {
          throw new PlantStoreUnavailableException("interrupted");
        }
        NewPlant stored = instance.putIfAbsent(plant);
        instance.lock.release();
        return stored;
      }),
  BLOCKS_ITS_CALLER("r7_the_asynchronous", Instance::putIfAbsentSlowly) {
    @Override
    CompletionStage<NewPlant> start(Instance instance, Supplier<NewPlant> call, Executor executor) {
      return CompletableFuture.completedFuture(call.get());
    }
  },
  WRAPS_FAILURES_AND_THROWS_A_REJECTION("r7_a_call", Instance::putIfAbsent) {
    @Override
    CompletionStage<NewPlant> start(Instance instance, Supplier<NewPlant> call, Executor executor) {
      return CompletableFuture.supplyAsync(call, executor);
    }
  },
  HAS_ONE_CONNECTION_AND_DOES_NOT_WAIT(
      "r8_many",
      (instance, plant) -> {
        if (!instance.lock.tryAcquire()) {
          throw new PlantStoreUnavailableException("no connection is free");
        }
        Instance.roundTrip();
        instance.lock.release();
        return instance.putIfAbsent(plant);
      }),
  SHARES_ONE_STATEMENT(
      "r8_many",
      (instance, plant) -> {
        instance.parameters = plant;
        Instance.roundTrip();
        return instance.putIfAbsent(instance.parameters);
      }),
  SHARES_ONE_FUTURE("r8_a_call", Instance::putIfAbsentSlowly) {
    @Override
    CompletionStage<NewPlant> start(Instance instance, Supplier<NewPlant> call, Executor executor) {
      CompletionStage<NewPlant> running = instance.running;
      if (running == null || running.toCompletableFuture().isDone()) {
        running = CompletableFuture.supplyAsync(call, executor);
        instance.running = running;
      }
      return running;
    }
  },
  REFUSES_NULL_IN_ITS_OWN_WAY(
      "r9",
      (instance, plant) -> {
        if (plant == null) {
          throw new IllegalArgumentException("no plant");
        }
        return instance.putIfAbsent(plant);
      });

  /** The beginning of the names of the tests that fail; empty if all tests pass. */
  final String failedTests;

  private final BiFunction<Instance, NewPlant, NewPlant> blocking;

  SampleStore(String failedTests, BiFunction<Instance, NewPlant, NewPlant> blocking) {
    this.failedTests = failedTests;
    this.blocking = blocking;
  }

  /** Returns an instance that asks the server before each call, if there is one. */
  PlantStore open(Database database, @Nullable InetSocketAddress server) {
    Instance instance = new Instance(database, server);
    return new PlantStore() {
      @Override
      public NewPlant putIfAbsent(NewPlant plant) {
        return blocking.apply(instance, plant);
      }

      @Override
      public CompletionStage<NewPlant> putIfAbsentAsync(NewPlant plant, Executor executor) {
        requireNonNull(plant);
        requireNonNull(executor);
        return start(instance, () -> putIfAbsent(plant), executor);
      }
    };
  }

  /** Starts a call in the asynchronous form; by default as every store. */
  CompletionStage<NewPlant> start(Instance instance, Supplier<NewPlant> call, Executor executor) {
    PlantStore store = unused -> call.get();
    return store.putIfAbsentAsync(new NewPlant(0, "", null), executor);
  }

  /** A memory, and a disk that survives a crash. */
  static final class Database {

    final Map<Long, NewPlant> memory = new ConcurrentHashMap<>();
    final Map<Long, NewPlant> disk = new ConcurrentHashMap<>();

    void crash() {
      memory.clear();
      memory.putAll(disk);
    }
  }

  /** An instance on a database, with what the mistakes need. */
  static final class Instance {

    final Semaphore lock = new Semaphore(1);
    final Database database;
    final @Nullable InetSocketAddress server;
    volatile long lastCall = System.nanoTime();
    volatile boolean failed;
    volatile NewPlant parameters = new NewPlant(0, "", null);
    volatile @Nullable CompletionStage<NewPlant> running;

    Instance(Database database, @Nullable InetSocketAddress server) {
      this.database = database;
      this.server = server;
    }

    NewPlant putIfAbsent(NewPlant plant) {
      askServer(100);
      NewPlant stored = database.memory.computeIfAbsent(plant.id(), id -> plant);
      database.disk.putIfAbsent(stored.id(), stored);
      return new NewPlant(stored.id(), stored.name(), stored.tag());
    }

    void askServer(int timeoutMillis) {
      if (server == null) {
        return;
      }
      try (Socket socket = new Socket(server.getAddress(), server.getPort())) {
        socket.setSoTimeout(timeoutMillis);
        if (socket.getInputStream().read() != 1) {
          throw new IOException("no answer");
        }
      } catch (IOException e) {
        failed = true;
        throw new PlantStoreUnavailableException("the database cannot be reached");
      }
    }

    NewPlant readThenWrite(NewPlant plant) {
      NewPlant stored = database.memory.get(plant.id());
      roundTrip();
      if (stored == null) {
        database.memory.put(plant.id(), plant);
      }
      return stored == null ? plant : stored;
    }

    /** Returns long after the plant is stored. */
    NewPlant putIfAbsentSlowly(NewPlant plant) {
      NewPlant stored = putIfAbsent(plant);
      LockSupport.parkNanos(1_000_000);
      return stored;
    }

    /** Takes as long as a call over a network, which keeps a race open longer than a map does. */
    static void roundTrip() {
      LockSupport.parkNanos(50_000);
    }
  }
}
