package org.plantstore.domain;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.plantstore.domain.PlantStoreContractTest.R1;
import static org.plantstore.domain.PlantStoreContractTest.R2;
import static org.plantstore.domain.PlantStoreContractTest.R3;
import static org.plantstore.domain.PlantStoreContractTest.R3_TWO_INSTANCES;
import static org.plantstore.domain.PlantStoreContractTest.R4;
import static org.plantstore.domain.PlantStoreContractTest.R5;
import static org.plantstore.domain.PlantStoreContractTest.R6;
import static org.plantstore.domain.PlantStoreContractTest.R7;
import static org.plantstore.domain.PlantStoreContractTest.R8;
import static org.plantstore.domain.PlantStoreContractTest.R9;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.text.Normalizer;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Stores that keep every rule, and stores with one mistake each that stores are known to have. */
@SuppressWarnings("ImmutableEnumChecker") // the checker does not know what sets and lambdas are
enum SampleStore {
  SOUND(Set.of(), database -> database::putIfAbsent),
  SOUND_AND_ANSWERS_COPIES(
      Set.of(),
      database ->
          plant -> {
            NewPlant stored = database.putIfAbsent(plant);
            return new NewPlant(stored.id(), stored.name(), stored.tag());
          }),
  SOUND_AND_STORES_ALTHOUGH_IT_FAILS(
      Set.of(),
      database -> database::putIfAbsent,
      database ->
          plant -> {
            database.putIfAbsent(plant);
            throw unavailable();
          }),

  ANSWERS_WITHOUT_STORING(
      Set.of(R1, R2, R3, R3_TWO_INSTANCES, R4, R5, R6, R7, R8),
      database -> plant -> requireNonNull(plant)),
  NAMES_ARE_UNIQUE(
      Set.of(R1, R5),
      database ->
          plant -> {
            for (NewPlant other : database.plants.values()) {
              if (other.name().equals(plant.name()) && other.id() != plant.id()) {
                throw new IllegalStateException("the index on names has it already");
              }
            }
            return database.putIfAbsent(plant);
          }),
  EQUAL_CONTENT_IS_STORED_ONCE(
      Set.of(R1),
      database ->
          plant -> {
            for (NewPlant other : database.plants.values()) {
              if (other.name().equals(plant.name()) && Objects.equals(other.tag(), plant.tag())) {
                return other;
              }
            }
            return database.putIfAbsent(plant);
          }),
  FREE_ID_IS_ANSWERED_LIKE_A_MAP_DOES(
      Set.of(R1, R3, R3_TWO_INSTANCES, R5, R6, R8),
      database -> plant -> answerOfMap(database, plant)),

  MISSING_TAG_IS_FILLED_IN(
      Set.of(R2),
      database ->
          plant -> {
            NewPlant stored = database.putIfAbsent(plant);
            if (stored.tag() == null && stored.name().equals(plant.name())) {
              database.plants.put(plant.id(), plant);
              return plant;
            }
            return stored;
          }),
  TAG_IS_REPLACED_UNSEEN(
      Set.of(R2),
      database ->
          plant -> {
            NewPlant stored = database.putIfAbsent(plant);
            if (stored.name().equals(plant.name())) {
              database.plants.put(plant.id(), plant);
            }
            return stored;
          }),
  EQUAL_NAME_IS_TAKEN_FOR_AN_EQUAL_PLANT(
      Set.of(R2),
      database ->
          plant -> {
            NewPlant stored = database.putIfAbsent(plant);
            return stored.name().equals(plant.name()) ? plant : stored;
          }),

  READS_THEN_WRITES(
      Set.of(R3, R3_TWO_INSTANCES, R4), database -> plant -> readThenWrite(database, plant)),
  LOSER_OF_A_RACE_ANSWERS_ITS_OWN(
      Set.of(R3, R3_TWO_INSTANCES, R4),
      database ->
          plant -> {
            NewPlant stored = database.read(plant.id());
            if (stored != null) {
              return stored;
            }
            database.putIfAbsent(plant);
            return plant;
          }),
  LOSER_OF_A_RACE_FAILS(
      Set.of(R3, R3_TWO_INSTANCES),
      database ->
          plant -> {
            NewPlant stored = database.read(plant.id());
            if (stored == null && !database.putIfAbsent(plant).equals(plant)) {
              throw new IllegalStateException("duplicate key");
            }
            return stored == null ? plant : stored;
          }),
  WINNER_IS_OVERWRITTEN(
      Set.of(R3, R3_TWO_INSTANCES, R4),
      database -> {
        ConcurrentMap<Long, NewPlant> winners = new ConcurrentHashMap<>();
        return plant -> {
          NewPlant stored = database.read(plant.id());
          if (stored != null) {
            return stored;
          }
          winners.putIfAbsent(plant.id(), plant);
          database.plants.put(plant.id(), plant);
          return winners.get(plant.id());
        };
      }),
  LOCKS_WITHIN_ITS_INSTANCE(
      Set.of(R3_TWO_INSTANCES),
      database -> {
        Object lock = new Object();
        return plant -> {
          synchronized (lock) {
            return readThenWrite(database, plant);
          }
        };
      }),

  WRITES_LATER(
      Set.of(R4),
      database ->
          plant -> {
            database.unwritten.add(plant.id());
            return database.putIfAbsent(plant);
          }),
  WRITES_TEN_PLANTS_TOGETHER(
      Set.of(R4),
      database ->
          plant -> {
            synchronized (database.unwritten) {
              database.unwritten.add(plant.id());
              if (database.unwritten.size() == 10) {
                database.unwritten.clear();
              }
            }
            return database.putIfAbsent(plant);
          }),
  WRITES_ONLY_THE_FIRST_OF_CONCURRENT_CALLS(
      Set.of(R4),
      database -> {
        AtomicInteger callers = new AtomicInteger();
        return plant -> {
          boolean alone = callers.getAndIncrement() == 0;
          NewPlant stored = database.putIfAbsent(plant);
          if (!alone && stored.equals(plant)) {
            database.unwritten.add(plant.id());
          }
          roundTrip();
          callers.decrementAndGet();
          return stored;
        };
      }),
  LOSER_OF_A_RACE_ROLLS_THE_WINNER_BACK(
      Set.of(R4),
      database ->
          plant -> {
            NewPlant before = database.read(plant.id());
            NewPlant stored = database.putIfAbsent(plant);
            if (before == null && !stored.equals(plant)) {
              database.unwritten.add(plant.id());
            }
            return stored;
          }),
  WRITES_LATIN_1(Set.of(R4), writing(plant -> withTexts(plant, SampleStore::latin1))),
  WRITES_IDS_AS_DOUBLES(Set.of(R4), writing(plant -> withId(plant, id -> (long) (double) id))),

  STRIPS_TRAILING_SPACE(Set.of(R5), changingTexts(String::stripTrailing)),
  NORMALISES(Set.of(R5), changingTexts(text -> Normalizer.normalize(text, Normalizer.Form.NFC))),
  DECOMPOSES(Set.of(R5), changingTexts(text -> Normalizer.normalize(text, Normalizer.Form.NFD))),
  LOWERS_CASE(Set.of(R5), changingTexts(text -> text.toLowerCase(Locale.ROOT))),
  NORMALISES_LINE_BREAKS(Set.of(R5), changingTexts(text -> text.replace("\r\n", "\n"))),
  DROPS_BYTE_ORDER_MARK(Set.of(R5), changingTexts(text -> text.replaceFirst("^\uFEFF", ""))),
  DROPS_CONTROL_CHARACTERS(Set.of(R5), changingTexts(text -> text.replaceAll("\\p{Cntrl}", ""))),
  DROPS_NONCHARACTERS(Set.of(R5), changingTexts(text -> text.replace("\uFFFE", ""))),
  KEEPS_LATIN_1(Set.of(R5), changingTexts(SampleStore::latin1)),
  REPLACES_SUPPLEMENTARY_CHARACTERS(
      Set.of(R5), changingTexts(text -> text.replaceAll("[^\\x{0}-\\x{FFFF}]", "\uFFFD"))),
  TRUNCATES_AT_65535_BYTES(
      Set.of(R5),
      changingTexts(text -> {
        byte[] bytes = text.getBytes(UTF_8);
        return bytes.length > 65_535 ? new String(bytes, 0, 65_535, UTF_8) : text;
      })),
  REFUSES_MORE_THAN_A_MEBIBYTE(
      Set.of(R5),
      changingTexts(text -> {
        if (text.length() > 1 << 20) {
          throw new IllegalStateException("too long");
        }
        return text;
      })),
  EMPTY_TAG_IS_NONE(
      Set.of(R5),
      database ->
          plant ->
              database.putIfAbsent(
                  new NewPlant(
                      plant.id(), plant.name(), "".equals(plant.tag()) ? null : plant.tag()))),
  EMPTY_TAG_BESIDE_A_NAME_IS_NONE(
      Set.of(R5),
      database ->
          plant ->
              database.putIfAbsent(
                  "".equals(plant.tag()) && !plant.name().isEmpty()
                      ? new NewPlant(plant.id(), plant.name(), null)
                      : plant)),
  TAG_STANDS_IN_FOR_AN_EMPTY_NAME(
      Set.of(R5),
      database ->
          plant ->
              database.putIfAbsent(
                  plant.name().isEmpty() && plant.tag() != null
                      ? new NewPlant(plant.id(), plant.tag(), plant.tag())
                      : plant)),
  REFUSES_TO_STORE_NEITHER_NAME_NOR_TAG(
      Set.of(R5),
      database ->
          plant -> {
            NewPlant stored = database.plants.get(plant.id());
            if (stored == null && plant.name().isEmpty() && plant.tag() == null) {
              throw new IllegalStateException("all columns are empty");
            }
            return database.putIfAbsent(plant);
          }),

  IDS_ARE_DOUBLES(Set.of(R6), changingIds(id -> (long) (double) id)),
  IDS_ARE_INTS(Set.of(R6), changingIds(id -> (int) id)),
  IDS_ARE_POSITIVE(Set.of(R6), changingIds(Math::abs)),
  ZERO_MEANS_THE_NEXT_ID(Set.of(R6), changingIds(id -> id == 0 ? 4711 : id)),

  LEAKS_AN_EXCEPTION(
      Set.of(R7),
      SOUND.store,
      database ->
          plant -> {
            throw new UncheckedIOException(new IOException("connection refused"));
          }),
  LEAKS_A_CAUSE(
      Set.of(R7),
      SOUND.store,
      database ->
          plant -> {
            PlantStoreUnavailableException unavailable = unavailable();
            unavailable.initCause(new IOException("connection refused"));
            throw unavailable;
          }),
  LEAKS_A_SUPPRESSED_EXCEPTION(
      Set.of(R7),
      SOUND.store,
      database ->
          plant -> {
            PlantStoreUnavailableException unavailable = unavailable();
            unavailable.addSuppressed(new IOException("connection reset"));
            throw unavailable;
          }),
  LEAKS_WHERE_MANY_CALL(
      Set.of(R7),
      SOUND.store,
      database -> {
        Semaphore connections = new Semaphore(1);
        return plant -> {
          if (!connections.tryAcquire()) {
            throw new IllegalStateException("the pool is exhausted");
          }
          roundTrip();
          connections.release();
          throw unavailable();
        };
      }),
  PRETENDS_TO_STORE(Set.of(R7), SOUND.store, database -> plant -> plant),
  BREAKS_AFTER_A_FAILURE(
      Set.of(R7),
      SOUND.store,
      database -> {
        AtomicBoolean broken = new AtomicBoolean();
        return plant -> {
          if (broken.get()) {
            throw new IllegalStateException("the pool is closed");
          }
          roundTrip();
          broken.set(true);
          throw unavailable();
        };
      }),
  HANGS_AFTER_A_FAILURE(
      Set.of(R7),
      SOUND.store,
      database -> {
        Semaphore connections = new Semaphore(1);
        return plant -> {
          connections.acquireUninterruptibly(); // and never released
          throw unavailable();
        };
      }),
  REFUSES_A_RETRY(
      Set.of(R7),
      database ->
          plant -> {
            if (database.locked.remove(plant.id())) {
              throw new IllegalStateException("the plant is locked by a transaction in doubt");
            }
            return database.putIfAbsent(plant);
          },
      database ->
          plant -> {
            database.putIfAbsent(plant);
            database.locked.add(plant.id());
            throw unavailable();
          }),
  FORGETS_A_RETRY(
      Set.of(R7),
      database ->
          plant -> database.locked.contains(plant.id()) ? plant : database.putIfAbsent(plant),
      database ->
          plant -> {
            database.locked.add(plant.id());
            throw unavailable();
          }),
  OVERWRITES_ALTHOUGH_IT_FAILS(
      Set.of(R7),
      SOUND.store,
      database ->
          plant -> {
            database.plants.put(plant.id(), plant);
            throw unavailable();
          }),
  DELETES_THE_ID_AFTER_A_FAILURE(
      Set.of(R7),
      SOUND.store,
      database ->
          plant -> {
            database.plants.remove(plant.id());
            throw unavailable();
          }),

  SHARES_ONE_STATEMENT(
      Set.of(R8),
      database -> {
        AtomicReference<NewPlant> parameters = new AtomicReference<>();
        return plant -> {
          parameters.set(plant);
          roundTrip();
          return database.putIfAbsent(parameters.get());
        };
      }),

  SHARES_PARAMETERS(
      Set.of(R3, R3_TWO_INSTANCES, R8),
      database -> {
        AtomicReference<NewPlant> name = new AtomicReference<>();
        AtomicReference<NewPlant> tag = new AtomicReference<>();
        return plant -> {
          name.set(plant);
          roundTrip();
          tag.set(plant);
          NewPlant parameters = new NewPlant(plant.id(), name.get().name(), tag.get().tag());
          return database.putIfAbsent(parameters);
        };
      }),

  ACCEPTS_NULL(
      Set.of(R9), database -> plant -> plant == null ? plant : database.putIfAbsent(plant)),
  REFUSES_NULL_IN_ITS_OWN_WAY(
      Set.of(R9),
      database ->
          plant -> {
            if (plant == null) {
              throw new IllegalArgumentException("plant is null");
            }
            return database.putIfAbsent(plant);
          });

  /** The tests that find the mistake; all others pass. */
  final Set<String> failedTests;

  /** Opens an instance of the store on a database. */
  final Function<Database, PlantStore> store;

  /** Opens one that cannot reach the database. */
  final Function<Database, PlantStore> unreachableStore;

  SampleStore(Set<String> failedTests, Function<Database, PlantStore> store) {
    this(
        failedTests,
        store,
        database ->
            plant -> {
              throw unavailable();
            });
  }

  SampleStore(
      Set<String> failedTests,
      Function<Database, PlantStore> store,
      Function<Database, PlantStore> unreachableStore) {
    this.failedTests = failedTests;
    this.store = store;
    this.unreachableStore = unreachableStore;
  }

  private static PlantStoreUnavailableException unavailable() {
    return new PlantStoreUnavailableException("the database cannot be reached");
  }

  @SuppressWarnings("NullAway") // null for a free id is the mistake
  private static NewPlant answerOfMap(Database database, NewPlant plant) {
    return database.plants.putIfAbsent(plant.id(), plant);
  }

  private static NewPlant readThenWrite(Database database, NewPlant plant) {
    NewPlant stored = database.read(plant.id());
    if (stored == null) {
      database.plants.put(plant.id(), plant);
      return plant;
    }
    return stored;
  }

  private static Function<Database, PlantStore> changingTexts(UnaryOperator<String> change) {
    return database -> plant -> database.putIfAbsent(withTexts(plant, change));
  }

  private static Function<Database, PlantStore> changingIds(LongUnaryOperator change) {
    return database -> plant -> database.putIfAbsent(withId(plant, change));
  }

  /** Answers what was put as long as it is in memory, whatever is on the disk. */
  private static Function<Database, PlantStore> writing(UnaryOperator<NewPlant> change) {
    return database -> {
      database.changeOnDisk = change;
      return database::putIfAbsent;
    };
  }

  private static NewPlant withTexts(NewPlant plant, UnaryOperator<String> change) {
    String tag = plant.tag() == null ? null : change.apply(plant.tag());
    return new NewPlant(plant.id(), change.apply(plant.name()), tag);
  }

  private static NewPlant withId(NewPlant plant, LongUnaryOperator change) {
    return new NewPlant(change.applyAsLong(plant.id()), plant.name(), plant.tag());
  }

  private static String latin1(String text) {
    return new String(text.getBytes(ISO_8859_1), ISO_8859_1);
  }

  /** A database is not as near as a map: races that its clients leave open stay open for longer. */
  private static void roundTrip() {
    LockSupport.parkNanos(50_000);
  }

  /** Stands for a database: a map, and what a crash of it would lose. */
  static final class Database {

    final ConcurrentMap<Long, NewPlant> plants = new ConcurrentHashMap<>();

    /** Ids of plants that are not on the disk yet. */
    final Queue<Long> unwritten = new ConcurrentLinkedQueue<>();

    /** How the disk keeps a plant that the memory keeps as it is. */
    UnaryOperator<NewPlant> changeOnDisk = UnaryOperator.identity();

    /** Ids that a call which failed has left locked. */
    final Set<Long> locked = ConcurrentHashMap.newKeySet();

    @Nullable NewPlant read(long id) {
      NewPlant stored = plants.get(id);
      roundTrip();
      return stored;
    }

    NewPlant putIfAbsent(NewPlant plant) {
      NewPlant stored = plants.putIfAbsent(plant.id(), plant);
      return stored == null ? plant : stored;
    }

    void crash() {
      unwritten.forEach(plants::remove);
      unwritten.clear();
      List<NewPlant> written = plants.values().stream().map(changeOnDisk).toList();
      plants.clear();
      written.forEach(plant -> plants.put(plant.id(), plant));
    }
  }
}
