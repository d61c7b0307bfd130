package org.plantstore.domain;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Collections;
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
import java.util.function.UnaryOperator;
import org.plantstore.domain.InvalidPlantException.Violation;

/** Stores that keep every rule, and a few for each rule that break it by one realistic mistake. */
@SuppressWarnings("ImmutableEnumChecker") // the checker does not know lambdas
enum SampleStore {
  SOUND("", Database::putIfAbsent),
  REFUSES_LONG_TEXTS(
      "",
      (database, plant) -> {
        if (plant.name().length() + Objects.toString(plant.tag(), "").length() > 255) {
          throw new InvalidPlantException(List.of(new Violation("tag", "must be shorter")));
        }
        return database.putIfAbsent(plant);
      }),

  STORES_NOTHING("r1", (database, plant) -> Objects.requireNonNull(plant)),
  FORGETS_AFTER_A_TIME(
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
    PlantStore on(Database database) {
      PlantStore store = super.on(database);
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
        NewPlant stored = database.memory.computeIfAbsent(plant.id(), id -> plant);
        synchronized (database.unwritten) {
          if (stored.equals(plant)
              && database.unwritten.add(plant)
              && database.unwritten.size() == 10) {
            database.unwritten.forEach(database::putIfAbsent);
            database.unwritten.clear();
          }
        }
        return stored;
      }),
  TRUNCATES("r5", changing(text -> text.substring(0, Math.min(text.length(), 1 << 16)))),
  TAKES_NO_TAG_FOR_AN_EMPTY_ONE(
      "r5",
      (database, plant) ->
          database.putIfAbsent(
              new NewPlant(plant.id(), plant.name(), Objects.toString(plant.tag(), "")))),
  KEEPS_IDS_AS_DOUBLES(
      "r6",
      (database, plant) ->
          database.putIfAbsent(
              new NewPlant((long) (double) plant.id(), plant.name(), plant.tag()))),

  LEAKS_A_CAUSE("r7_a_failure", Database::putIfAbsent) {
    @Override
    RuntimeException failure(Database database, NewPlant plant) {
      RuntimeException failure = super.failure(database, plant);
      failure.initCause(new IOException("refused"));
      return failure;
    }
  },
  TAKES_LONG_TO_FAIL("r7_a_failure", Database::putIfAbsent) {
    @Override
    RuntimeException failure(Database database, NewPlant plant) {
      LockSupport.parkNanos(database.timeLimitNanos / 2);
      return super.failure(database, plant);
    }
  },
  WAITS_FOR_A_SILENT_SERVER("r7_a_silent", Database::putIfAbsent) {
    @Override
    int answerTimeoutMillis() {
      return 0; // none
    }
  },
  NEVER_CONNECTS_AGAIN("r7_a_silent", Database::putIfAbsent) {
    @Override
    PlantStore through(InetSocketAddress server, Database database) {
      PlantStore connected = super.through(server, database);
      return plant -> {
        if (!database.connection.tryAcquire()) {
          throw super.failure(database, plant);
        }
        NewPlant stored = connected.putIfAbsent(plant);
        database.connection.release();
        return stored;
      };
    }
  },
  KEEPS_A_LOCK_AFTER_AN_INTERRUPT(
      "r7_an_interrupt",
      (database, plant) -> {
        database.connection.acquireUninterruptibly();
        Database.roundTrip();
        if (Thread.currentThread().isInterrupted()) {
          throw new PlantStoreUnavailableException("interrupted");
        }
        NewPlant stored = database.putIfAbsent(plant);
        database.connection.release();
        return stored;
      }),
  BLOCKS_ITS_CALLER("r7_the_asynchronous", Database::putIfAbsent) {
    @Override
    CompletionStage<NewPlant> start(
        Database database, Supplier<NewPlant> call, NewPlant plant, Executor executor) {
      LockSupport.parkNanos(1_000_000);
      return CompletableFuture.completedFuture(call.get());
    }
  },
  WRAPS_FAILURES_AND_THROWS_A_REJECTION("r7_a_call", Database::putIfAbsent) {
    @Override
    CompletionStage<NewPlant> start(
        Database database, Supplier<NewPlant> call, NewPlant plant, Executor executor) {
      return CompletableFuture.supplyAsync(call, executor);
    }
  },

  HAS_16_CONNECTIONS_AND_WAITS_FOR_NONE(
      "r8_many",
      (database, plant) -> {
        if (!database.pool.tryAcquire()) {
          throw new PlantStoreUnavailableException("no connection is free");
        }
        LockSupport.parkNanos(10_000_000);
        database.pool.release();
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
    CompletionStage<NewPlant> start(
        Database database, Supplier<NewPlant> call, NewPlant plant, Executor executor) {
      return database.stages.computeIfAbsent(
          plant.id(), id -> CompletableFuture.supplyAsync(call, executor));
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

  private static BiFunction<Database, NewPlant, NewPlant> changing(UnaryOperator<String> change) {
    return (database, plant) -> {
      String tag = plant.tag() == null ? null : change.apply(plant.tag());
      return database.putIfAbsent(new NewPlant(plant.id(), change.apply(plant.name()), tag));
    };
  }

  PlantStore on(Database database) {
    return inBothForms(database, plant -> store.apply(database, plant));
  }

  PlantStore unreachableOn(Database database) {
    return inBothForms(
        database,
        plant -> {
          throw failure(database, plant);
        });
  }

  RuntimeException failure(Database database, NewPlant plant) {
    return new PlantStoreUnavailableException("the database cannot be reached");
  }

  /** Returns an instance that asks a server before each call for a plant that is not durable. */
  PlantStore through(InetSocketAddress server, Database database) {
    return inBothForms(
        database,
        plant -> {
          if (!database.disk.containsKey(plant.id())) {
            try (Socket socket = new Socket(server.getAddress(), server.getPort())) {
              socket.setSoTimeout(answerTimeoutMillis());
              if (socket.getInputStream().read() != 1) {
                throw failure(database, plant);
              }
            } catch (IOException e) {
              throw failure(database, plant);
            }
          }
          return store.apply(database, plant);
        });
  }

  int answerTimeoutMillis() {
    return 100;
  }

  private PlantStore inBothForms(Database database, PlantStore blocking) {
    return new PlantStore() {
      @Override
      public NewPlant putIfAbsent(NewPlant plant) {
        return blocking.putIfAbsent(plant);
      }

      @Override
      public CompletionStage<NewPlant> putIfAbsentAsync(NewPlant plant, Executor executor) {
        Objects.requireNonNull(executor);
        return start(database, () -> blocking.putIfAbsent(plant), plant, executor);
      }
    };
  }

  CompletionStage<NewPlant> start(
      Database database, Supplier<NewPlant> call, NewPlant plant, Executor executor) {
    Objects.requireNonNull(plant);
    PlantStore store = unused -> call.get();
    return store.putIfAbsentAsync(plant, executor);
  }

  /** A memory, and a disk that survives a crash. */
  static final class Database {

    final Map<Long, NewPlant> memory = new ConcurrentHashMap<>();
    final Map<Long, NewPlant> disk = new ConcurrentHashMap<>();
    final Map<Long, CompletionStage<NewPlant>> stages = new ConcurrentHashMap<>();
    final List<NewPlant> unwritten = Collections.synchronizedList(new ArrayList<>());
    final Semaphore connection = new Semaphore(1);
    final Semaphore pool = new Semaphore(16);
    volatile long lastCall = System.nanoTime();
    volatile NewPlant parameters = new NewPlant(0, "", null);
    long timeLimitNanos;

    NewPlant putIfAbsent(NewPlant plant) {
      NewPlant stored = memory.computeIfAbsent(plant.id(), id -> plant);
      disk.putIfAbsent(stored.id(), stored);
      return new NewPlant(stored.id(), stored.name(), stored.tag());
    }

    NewPlant readThenWrite(NewPlant plant) {
      NewPlant stored = memory.get(plant.id());
      roundTrip();
      if (stored == null) {
        memory.put(plant.id(), plant);
        disk.put(plant.id(), plant);
      }
      return stored == null ? plant : stored;
    }

    /** Returns long after the plant is stored. */
    NewPlant putIfAbsentSlowly(NewPlant plant) {
      NewPlant stored = putIfAbsent(plant);
      LockSupport.parkNanos(1_000_000);
      return stored;
    }

    void crash() {
      unwritten.clear();
      memory.clear();
      memory.putAll(disk);
    }

    /** Takes as long as a call over a network, which keeps a race open longer than a map does. */
    static void roundTrip() {
      LockSupport.parkNanos(50_000);
    }
  }
}
