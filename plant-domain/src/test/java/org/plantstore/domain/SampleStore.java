package org.plantstore.domain;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.text.Normalizer;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** A store that keeps every rule, and stores with one mistake each. */
@SuppressWarnings("ImmutableEnumChecker") // the checker does not know lambdas
enum SampleStore {
  SOUND(
      (database, plant) -> {
        NewPlant stored = database.putIfAbsent(plant);
        return new NewPlant(stored.id(), stored.name(), stored.tag());
      },
      Database::putIfAbsent),

  STORES_NOTHING(
      (database, plant) -> requireNonNull(plant), "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8"),
  STORES_EQUAL_CONTENT_ONCE(
      (database, plant) ->
          database.memory.values().stream()
              .filter(other -> other.plant().equals(plant.plant()))
              .findFirst()
              .orElseGet(() -> database.putIfAbsent(plant)),
      "r1"),

  FILLS_IN_A_MISSING_TAG(
      (database, plant) -> {
        NewPlant stored = database.putIfAbsent(plant);
        if (stored.tag() == null && stored.name().equals(plant.name())) {
          database.write(plant);
          return plant;
        }
        return stored;
      },
      "r2"),
  COMPARES_ONLY_NAMES(
      (database, plant) -> {
        NewPlant stored = database.putIfAbsent(plant);
        return stored.name().equals(plant.name()) ? plant : stored;
      },
      "r2"),

  READS_THEN_WRITES(Database::readThenWrite, "r3", "r4"),
  LOCKS_WITHIN_ITS_INSTANCE(
      Database::readThenWrite, "r3_of_concurrent_calls_through_two_instances") {
    @Override
    PlantStore on(Database database) {
      return locking(new Object(), super.on(database));
    }
  },

  WRITES_TEN_PLANTS_TOGETHER(
      (database, plant) -> {
        NewPlant stored = database.putIfAbsentInMemory(plant);
        synchronized (database.unwritten) {
          if (stored.equals(plant)
              && database.unwritten.add(plant)
              && database.unwritten.size() == 10) {
            database.unwritten.forEach(database::write);
            database.unwritten.clear();
          }
        }
        return stored;
      },
      "r4"),
  ROLLS_BACK_ALL_WHEN_ONE_LOSES_A_RACE(
      (database, plant) -> {
        NewPlant before = database.read(plant.id());
        NewPlant stored = database.putIfAbsent(plant);
        if (before == null && !stored.equals(plant)) {
          database.disk.remove(plant.id());
        }
        return stored;
      },
      "r4"),
  WRITES_STRIPPED_TEXT(
      (database, plant) -> {
        NewPlant stored = database.putIfAbsentInMemory(plant);
        database.disk.putIfAbsent(plant.id(), withTexts(stored, String::strip));
        return stored;
      },
      "r4"),

  STRIPS_TRAILING_SPACE(changingTexts(String::stripTrailing), "r5"),
  NORMALISES(changingTexts(text -> Normalizer.normalize(text, Normalizer.Form.NFC)), "r5"),
  TRUNCATES(changingTexts(text -> text.substring(0, Math.min(text.length(), 1 << 16))), "r5"),
  TAKES_AN_EMPTY_TAG_FOR_NONE(
      (database, plant) ->
          database.putIfAbsent(
              "".equals(plant.tag()) ? new NewPlant(plant.id(), plant.name(), null) : plant),
      "r5"),

  KEEPS_IDS_AS_DOUBLES(
      (database, plant) ->
          database.putIfAbsent(new NewPlant((long) (double) plant.id(), plant.name(), plant.tag())),
      "r6"),

  LEAKS_A_CAUSE(
      SOUND.store, leaking(failure -> failure.initCause(new IOException("refused"))), "r7"),
  LEAKS_A_SUPPRESSED_EXCEPTION(
      SOUND.store, leaking(failure -> failure.addSuppressed(new IOException("reset"))), "r7"),
  HANGS_AFTER_A_FAILURE(
      SOUND.store,
      (database, plant) -> database.connections.acquireUninterruptibly(), // and never released
      "r7"),
  REFUSES_A_RETRY(
      (database, plant) -> {
        if (database.unwritten.contains(plant)) {
          throw new IllegalStateException("the plant is locked by a transaction in doubt");
        }
        return database.putIfAbsent(plant);
      },
      (database, plant) -> database.unwritten.add(plant),
      "r7"),
  OVERWRITES_ALTHOUGH_IT_FAILS(SOUND.store, Database::write, "r7"),

  SHARES_ONE_STATEMENT(
      (database, plant) -> {
        database.parameters.set(plant);
        Database.roundTrip();
        return database.putIfAbsent(database.parameters.get());
      },
      "r8"),

  REFUSES_NULL_IN_ITS_OWN_WAY(
      (database, plant) ->
          database.putIfAbsent(
              Optional.ofNullable(plant).orElseThrow(IllegalArgumentException::new)),
      "r9.*BLOCKING"),

  COMPLETES_BEFORE_IT_WRITES(SOUND.store, "r4.*ASYNCHRONOUS") {
    @Override
    PlantStore on(Database database) {
      return asynchronous(
          super.on(database),
          (plant, executor) -> {
            requireNonNull(executor);
            return CompletableFuture.completedFuture(database.putIfAbsentInMemory(plant));
          });
    }
  },
  WRAPS_THE_FAILURE_OF_A_STAGE(SOUND.store, "r7.*ASYNCHRONOUS") {
    @Override
    PlantStore unreachableOn(Database database) {
      PlantStore blocking = super.unreachableOn(database);
      return asynchronous(
          blocking,
          (plant, executor) -> CompletableFuture.supplyAsync(() -> blocking.putIfAbsent(plant)));
    }
  },
  THROWS_BEFORE_THERE_IS_A_STAGE(SOUND.store, "r7.*ASYNCHRONOUS") {
    @Override
    PlantStore unreachableOn(Database database) {
      PlantStore blocking = super.unreachableOn(database);
      return asynchronous(
          blocking,
          (plant, executor) -> CompletableFuture.completedFuture(blocking.putIfAbsent(plant)));
    }
  },
  LOCKS_EACH_FORM_FOR_ITSELF(SOUND.store, "r3.*ASYNCHRONOUS") {
    @Override
    PlantStore on(Database database) {
      return asynchronous(
          locking(database.memory, database::readThenWrite),
          locking(database.disk, database::readThenWrite)::putIfAbsentAsync);
    }
  },
  NEEDS_NO_EXECUTOR(SOUND.store, "r9.*ASYNCHRONOUS") {
    @Override
    PlantStore on(Database database) {
      PlantStore blocking = super.on(database);
      return asynchronous(
          blocking, (plant, executor) -> blocking.putIfAbsentAsync(plant, Runnable::run));
    }
  },
  REFUSES_NULL_BY_THE_STAGE(SOUND.store, "r9.*ASYNCHRONOUS") {
    @Override
    PlantStore on(Database database) {
      PlantStore blocking = super.on(database);
      return asynchronous(
          blocking,
          (plant, executor) ->
              plant == null
                  ? CompletableFuture.failedFuture(new NullPointerException("plant"))
                  : blocking.putIfAbsentAsync(plant, executor));
    }
  };

  /** Patterns of the beginnings of the names of the tests that fail; all others pass. */
  final Set<String> failedTests;

  private final BiFunction<Database, NewPlant, NewPlant> store;
  private final BiConsumer<Database, NewPlant> beforeFailure;

  SampleStore(BiFunction<Database, NewPlant, NewPlant> store, String... failedTests) {
    this(store, (database, plant) -> {}, failedTests);
  }

  SampleStore(
      BiFunction<Database, NewPlant, NewPlant> store,
      BiConsumer<Database, NewPlant> beforeFailure,
      String... failedTests) {
    this.store = store;
    this.beforeFailure = beforeFailure;
    this.failedTests = Set.of(failedTests);
  }

  /** Returns an instance on the database. */
  PlantStore on(Database database) {
    return plant -> store.apply(database, plant);
  }

  /** Returns an instance that cannot reach the database. */
  PlantStore unreachableOn(Database database) {
    return plant -> {
      beforeFailure.accept(database, plant);
      throw new PlantStoreUnavailableException("the database cannot be reached");
    };
  }

  /** Returns a store with another asynchronous form than the default one. */
  private static PlantStore asynchronous(
      PlantStore blocking, BiFunction<NewPlant, Executor, CompletionStage<NewPlant>> form) {
    return new PlantStore() {
      @Override
      public NewPlant putIfAbsent(NewPlant plant) {
        return blocking.putIfAbsent(plant);
      }

      @Override
      public CompletionStage<NewPlant> putIfAbsentAsync(NewPlant plant, Executor executor) {
        return form.apply(plant, executor);
      }
    };
  }

  private static PlantStore locking(Object lock, PlantStore store) {
    return plant -> {
      synchronized (lock) {
        return store.putIfAbsent(plant);
      }
    };
  }

  private static BiConsumer<Database, NewPlant> leaking(
      Consumer<PlantStoreUnavailableException> change) {
    return (database, plant) -> {
      var failure = new PlantStoreUnavailableException("the database cannot be reached");
      change.accept(failure);
      throw failure;
    };
  }

  private static BiFunction<Database, NewPlant, NewPlant> changingTexts(
      UnaryOperator<String> change) {
    return (database, plant) -> database.putIfAbsent(withTexts(plant, change));
  }

  private static NewPlant withTexts(NewPlant plant, UnaryOperator<String> change) {
    String tag = plant.tag() == null ? null : change.apply(plant.tag());
    return new NewPlant(plant.id(), change.apply(plant.name()), tag);
  }
}
