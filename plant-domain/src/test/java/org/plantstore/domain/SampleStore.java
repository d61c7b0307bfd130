package org.plantstore.domain;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
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
  SOUND("", Database::putIfAbsent),
  REFUSES_LONG_TEXTS(
      "",
      (database, plant) -> {
        if ((plant.name() + plant.tag()).length() > 255) {
          throw new InvalidPlantException(List.of(new Violation("tag", "must be shorter")));
        }
        return database.putIfAbsent(plant);
      }),

  STORES_NOTHING("r1", (database, plant) -> requireNonNull(plant)),
  FORGETS_AFTER_TWO_SECONDS(
      "r1",
      (database, plant) -> {
        if (System.nanoTime() - database.lastCall > 2_000_000_000) {
          database.memory.clear();
        }
        database.lastCall = System.nanoTime();
        return database.putIfAbsent(plant);
      }),
  IGNORES_CASE(
      "r2",
      (database, plant) -> {
        NewPlant stored = database.putIfAbsent(plant);
        return stored.toString().equalsIgnoreCase(plant.toString()) ? plant : stored;
      }),
  READS_THEN_WRITES("r3", Database::readThenWrite),
  LOCKS_WITHIN_ITS_INSTANCE("r3_of_concurrent_calls_through_two", Database::readThenWrite) {
    @Override
    PlantStore open(Database database, @Nullable InetSocketAddress server) {
      PlantStore store = super.open(database, server);
      Object lock = new Object();
      return plant -> {
        synchronized (lock) {
          return store.putIfAbsent(plant);
        }
      };
    }
  },
  WRITES_TEN_PLANTS_TOGETHER(
      "r4",
      (database, plant) -> {
        NewPlant stored = database.memory.putIfAbsent(plant.id(), plant);
        if (stored == null) {
          database.unwritten.add(plant);
          while (database.unwritten.size() >= 10) {
            database.putIfAbsent(database.unwritten.remove());
          }
        }
        return stored == null ? plant : stored;
      }),
  TRUNCATES(
      "r5",
      (database, plant) -> {
        String name = plant.name().substring(0, Math.min(plant.name().length(), 1 << 16));
        return database.putIfAbsent(new NewPlant(plant.id(), name, plant.tag()));
      }),
  TAKES_NO_TAG_FOR_AN_EMPTY_ONE(
      "r5",
      (database, plant) -> {
        String tag = Objects.toString(plant.tag(), "");
        return database.putIfAbsent(new NewPlant(plant.id(), plant.name(), tag));
      }),
  KEEPS_IDS_AS_DOUBLES(
      "r6",
      (database, plant) -> {
        long id = (long) (double) plant.id();
        return database.putIfAbsent(new NewPlant(id, plant.name(), plant.tag()));
      }),
  LEAKS_A_CAUSE("r7_a_failure", Database::putIfAbsent) {
    @Override
    RuntimeException failure(Database database, IOException cause) {
      return (RuntimeException) super.failure(database, cause).initCause(cause);
    }
  },
  TAKES_LONG_TO_FAIL("r7_a_failure", Database::putIfAbsent) {
    @Override
    RuntimeException failure(Database database, IOException cause) {
      LockSupport.parkNanos(PlantStoreContractTest.SHORT_LIMIT.toNanos() / 2);
      return super.failure(database, cause);
    }
  },
  WAITS_FOR_A_SILENT_SERVER("r7_a_silent", Database::putIfAbsent) {
    @Override
    int answerTimeoutMillis() {
      return 0; // none
    }
  },
  NEVER_CONNECTS_AGAIN(
      "r7_a_silent",
      (database, plant) -> {
        if (database.failed) {
          throw new PlantStoreUnavailableException("the connection is closed");
        }
        return database.putIfAbsent(plant);
      }),
  KEEPS_A_LOCK_AFTER_AN_INTERRUPT(
      "r7_an_interrupt",
      (database, plant) -> {
        database.lock.acquireUninterruptibly();
        Database.roundTrip();
        if (Thread.currentThread().isInterrupted()) {
          throw new PlantStoreUnavailableException("interrupted");
        }
        NewPlant stored = database.putIfAbsent(plant);
        database.lock.release();
        return stored;
      }),
  BLOCKS_ITS_CALLER("r7_the_asynchronous", Database::putIfAbsentSlowly) {
    @Override
    CompletionStage<NewPlant> start(Database database, Supplier<NewPlant> call, Executor executor) {
      return CompletableFuture.completedFuture(call.get());
    }
  },
  WRAPS_FAILURES_AND_THROWS_A_REJECTION("r7_a_call", Database::putIfAbsent) {
    @Override
    CompletionStage<NewPlant> start(Database database, Supplier<NewPlant> call, Executor executor) {
      return CompletableFuture.supplyAsync(call, executor);
    }
  },
  HAS_16_CONNECTIONS_AND_WAITS_FOR_NONE(
      "r8_many",
      (database, plant) -> {
        if (!database.connections.tryAcquire()) {
          throw new PlantStoreUnavailableException("no connection is free");
        }
        LockSupport.parkNanos(10_000_000);
        database.connections.release();
        return database.putIfAbsent(plant);
      }),
  SHARES_ONE_STATEMENT(
      "r8_many",
      (database, plant) -> {
        database.parameters = plant;
        Database.roundTrip();
        return database.putIfAbsent(database.parameters);
      }),
  SHARES_ONE_FUTURE("r8_a_call", Database::putIfAbsentSlowly) {
    @Override
    CompletionStage<NewPlant> start(Database database, Supplier<NewPlant> call, Executor executor) {
      CompletionStage<NewPlant> running = database.running;
      if (running == null || running.toCompletableFuture().isDone()) {
        running = CompletableFuture.supplyAsync(call, executor);
        database.running = running;
      }
      return running;
    }
  },
  REFUSES_NULL_IN_ITS_OWN_WAY(
      "r9",
      (database, plant) -> {
        if (plant == null) {
          throw new IllegalArgumentException("no plant");
        }
        return database.putIfAbsent(plant);
      });

  /** The beginning of the names of the tests that fail; empty if all tests pass. */
  final String failedTests;

  private final BiFunction<Database, NewPlant, NewPlant> store;

  SampleStore(String failedTests, BiFunction<Database, NewPlant, NewPlant> store) {
    this.failedTests = failedTests;
    this.store = store;
  }

  /** Returns an instance that asks the server before each call, if there is one. */
  PlantStore open(Database database, @Nullable InetSocketAddress server) {
    PlantStore blocking =
        plant -> {
          if (server != null) {
            ask(server, database);
          }
          return store.apply(database, plant);
        };
    return new PlantStore() {
      @Override
      public NewPlant putIfAbsent(NewPlant plant) {
        return blocking.putIfAbsent(plant);
      }

      @Override
      public CompletionStage<NewPlant> putIfAbsentAsync(NewPlant plant, Executor executor) {
        requireNonNull(plant);
        requireNonNull(executor);
        return start(database, () -> blocking.putIfAbsent(plant), executor);
      }
    };
  }

  CompletionStage<NewPlant> start(Database database, Supplier<NewPlant> call, Executor executor) {
    PlantStore store = unused -> call.get();
    return store.putIfAbsentAsync(new NewPlant(0, "", null), executor);
  }

  private void ask(InetSocketAddress server, Database database) {
    try (Socket socket = new Socket(server.getAddress(), server.getPort())) {
      socket.setSoTimeout(answerTimeoutMillis());
      if (socket.getInputStream().read() != 1) {
        throw new IOException("no answer");
      }
    } catch (IOException e) {
      throw failure(database, e);
    }
  }

  int answerTimeoutMillis() {
    return 100;
  }

  RuntimeException failure(Database database, IOException cause) {
    database.failed = true;
    return new PlantStoreUnavailableException("the database cannot be reached");
  }

  /** A memory, and a disk that survives a crash; and what the mistakes need. */
  static final class Database {

    final Map<Long, NewPlant> memory = new ConcurrentHashMap<>();
    final Map<Long, NewPlant> disk = new ConcurrentHashMap<>();
    final Queue<NewPlant> unwritten = new ConcurrentLinkedQueue<>();
    final Semaphore lock = new Semaphore(1);
    final Semaphore connections = new Semaphore(16);
    volatile long lastCall = System.nanoTime();
    volatile boolean failed;
    volatile NewPlant parameters = new NewPlant(0, "", null);
    volatile @Nullable CompletionStage<NewPlant> running;

    NewPlant putIfAbsent(NewPlant plant) {
      NewPlant stored = memory.computeIfAbsent(plant.id(), id -> plant);
      disk.putIfAbsent(stored.id(), stored);
      return new NewPlant(stored.id(), stored.name(), stored.tag());
    }

    NewPlant readThenWrite(NewPlant plant) {
      NewPlant stored = memory.get(plant.id());
      roundTrip();
      return stored == null ? write(plant) : stored;
    }

    private NewPlant write(NewPlant plant) {
      memory.put(plant.id(), plant);
      disk.put(plant.id(), plant);
      return plant;
    }

    /** Returns long after the plant is stored. */
    NewPlant putIfAbsentSlowly(NewPlant plant) {
      NewPlant stored = putIfAbsent(plant);
      LockSupport.parkNanos(1_000_000);
      return stored;
    }

    void crash() {
      memory.clear();
      memory.putAll(disk);
      unwritten.clear();
    }

    /** Takes as long as a call over a network, which keeps a race open longer than a map does. */
    static void roundTrip() {
      LockSupport.parkNanos(50_000);
    }
  }
}
