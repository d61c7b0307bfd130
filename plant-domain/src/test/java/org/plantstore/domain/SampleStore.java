package org.plantstore.domain;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.channels.ClosedByInterruptException;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.zip.CRC32;

/** A store that keeps every rule, and stores with one mistake each. */
@SuppressWarnings("ImmutableEnumChecker") // the checker does not know lambdas
enum SampleStore {
  SOUND(Database::putIfAbsent, (database, plant, failure) -> database.putIfAbsent(plant)),

  STORES_NOTHING(
      (database, plant) -> requireNonNull(plant),
      "r1",
      "r2",
      "r3",
      "r4",
      "r5",
      "r6",
      "r7",
      "r8_many"),
  COMPARES_ONLY_NAMES(comparing(NewPlant::name), "r2"),

  IGNORES_CASE(comparingTexts(text -> text.toLowerCase(Locale.ROOT)), "r2"),
  IGNORES_ACCENTS(
      comparingTexts(
          text -> Normalizer.normalize(text, Normalizer.Form.NFD).replaceAll("\\p{M}", "")),
      "r2"),
  IGNORES_NORMAL_FORMS(
      comparingTexts(text -> Normalizer.normalize(text, Normalizer.Form.NFC)), "r2"),
  IGNORES_PADDING(comparingTexts(String::strip), "r2"),
  COMPARES_255_CHARACTERS(
      comparingTexts(text -> text.substring(0, Math.min(text.length(), 255))), "r2"),
  COMPARES_HASHES(comparingTexts(String::hashCode), "r2"),
  COMPARES_CHECKSUMS(comparingTexts(SampleStore::checksum), "r2"),
  COMPARES_A_MILLION_CHARACTERS(
      comparingTexts(text -> text.substring(0, Math.min(text.length(), 1 << 20))), "r2"),
  COMPARES_ASCII(comparingTexts(text -> text.replaceAll("[^\\p{ASCII}]", "?")), "r2"),
  IGNORES_KINDS_OF_BLANKS(comparingTexts(text -> text.replaceAll("\\s+", " ")), "r2"),
  IGNORES_PUNCTUATION(comparingTexts(text -> text.replaceAll("\\p{Punct}", "")), "r2"),
  TAKES_NULL_FOR_NO_TAG(comparing(plant -> List.of(plant.name(), "" + plant.tag())), "r2"),
  COMPARES_JOINED_TEXTS(
      comparing(plant -> plant.name() + "|" + Objects.toString(plant.tag(), "none")), "r2"),
  STORES_TAGS_ONCE_FOR_EACH_CASE(
      (database, plant) -> {
        long key = String.valueOf(plant.tag()).toLowerCase(Locale.ROOT).hashCode() - (1L << 40);
        String tag = database.memory.computeIfAbsent(key, unused -> plant).tag();
        return database.putIfAbsent(new NewPlant(plant.id(), plant.name(), tag));
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

  READS_THEN_WRITES_NEGATIVE_IDS(readingThenWriting(plant -> plant.id() < 0), "r3"),
  READS_THEN_WRITES_WITHOUT_A_TAG(readingThenWriting(plant -> plant.tag() == null), "r3"),
  READS_THEN_WRITES_LONG_TEXTS(readingThenWriting(plant -> plant.name().length() > 8_192), "r3"),
  READS_THEN_WRITES_IDS_THAT_JAVA_DOES_NOT_SHARE(
      readingThenWriting(plant -> Math.abs(plant.id()) > 128), "r3"),
  REFUSES_ONE_OF_EQUAL_PLANTS(
      (database, plant) -> {
        if (database.unwritten.contains(plant)) {
          throw new IllegalStateException("duplicate key");
        }
        database.unwritten.add(plant);
        Database.roundTrip();
        database.unwritten.remove(plant);
        return database.putIfAbsent(plant);
      },
      "r3"),

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

  WRITES_300_000_CHARACTERS(
      writing(plant -> {
        String name = plant.name().substring(0, Math.min(plant.name().length(), 300_000));
        return new NewPlant(plant.id(), name, plant.tag());
      }),
      "r4"),
  WRITES_AN_EMPTY_TAG_FOR_NONE(writing(SampleStore::withAnEmptyTagForNone), "r4"),
  OVERWRITES_AFTER_A_CRASH(
      (database, plant) -> {
        NewPlant stored = database.putIfAbsent(plant);
        if (database.hasCrashed && stored.equals(plant)) {
          database
              .memory
              .keySet()
              .removeIf(id -> id != plant.id() && id % 1024 == plant.id() % 1024);
        }
        return stored;
      },
      "r4"),
  WRITES_LARGE_TEXTS_WITH_THE_NEXT_SMALL_ONE(
      (database, plant) -> {
        NewPlant stored = database.putIfAbsentInMemory(plant);
        if (String.valueOf(stored.tag()).length() < 1_000) {
          database.disk.putAll(database.memory);
        }
        return stored;
      },
      "r4"),

  MAKES_NUMBERS(
      changingTexts(text -> text.matches("[0-9]{1,9}") ? "" + Integer.parseInt(text) : text),
      "r2",
      "r5"),
  MAKES_BOOLEANS(changingTexts(text -> text.equals("yes") ? "true" : text), "r5"),
  MAKES_NULL(changingTexts(text -> text.equals("NULL") ? "" : text), "r5"),
  UNESCAPES(changingTexts(text -> text.replace("''", "'")), "r5"),
  DROPS_A_LAST_LINE_BREAK(changingTexts(text -> text.replaceAll("\n$", "")), "r5"),
  SPLITS_SURROGATE_PAIRS(
      changingTexts(text -> {
        int middle = text.length() / 2;
        boolean isPair = middle > 0 && Character.isHighSurrogate(text.charAt(middle - 1));
        return isPair ? text.substring(0, middle - 1) + "??" + text.substring(middle + 1) : text;
      }),
      "r5"),
  NORMALISES(changingTexts(text -> Normalizer.normalize(text, Normalizer.Form.NFC)), "r5"),
  TRUNCATES(changingTexts(text -> text.substring(0, Math.min(text.length(), 1 << 16))), "r5"),
  TAKES_AN_EMPTY_TAG_FOR_NONE(
      changing(
          plant -> "".equals(plant.tag()) ? new NewPlant(plant.id(), plant.name(), null) : plant),
      "r5"),
  TAKES_NO_TAG_FOR_AN_EMPTY_ONE(changing(SampleStore::withAnEmptyTagForNone), "r1", "r2", "r5"),

  KEEPS_IDS_AS_DOUBLES(
      changing(plant -> new NewPlant((long) (double) plant.id(), plant.name(), plant.tag())), "r6"),

  LEAKS_A_CAUSE(
      SOUND.store,
      (database, plant, failure) -> failure.initCause(new IOException("refused")),
      "r7_a_failure"),
  LEAKS_A_SUPPRESSED_EXCEPTION(
      SOUND.store,
      (database, plant, failure) -> failure.addSuppressed(new IOException("reset")),
      "r7_a_failure"),
  HANGS_AFTER_A_FAILURE(
      SOUND.store,
      (database, plant, failure) -> database.connections.acquireUninterruptibly(), // for ever
      "r7_a_failure"),
  REFUSES_A_RETRY(
      (database, plant) -> {
        if (database.unwritten.contains(plant)) {
          throw new IllegalStateException("the plant is locked by a transaction in doubt");
        }
        return database.putIfAbsent(plant);
      },
      (database, plant, failure) -> database.unwritten.add(plant),
      "r7_a_failure"),
  OVERWRITES_ALTHOUGH_IT_FAILS(
      SOUND.store, (database, plant, failure) -> database.write(plant), "r7_a_failure"),

  FORGETS_BEYOND_1000_PLANTS(
      (database, plant) -> {
        NewPlant stored = database.putIfAbsent(plant);
        if (database.memory.size() > 1_000) {
          database.memory.clear();
        }
        return stored;
      },
      "r8_many"),
  HAS_16_CONNECTIONS_AND_WAITS_FOR_NONE(
      (database, plant) -> {
        if (!database.pool.tryAcquire()) {
          throw new PlantStoreUnavailableException("no connection is free");
        }
        LockSupport.parkNanos(10_000_000);
        database.pool.release();
        return database.putIfAbsent(plant);
      },
      "r8_many"),
  SHARES_ONE_STATEMENT(
      (database, plant) -> {
        database.parameters.set(plant);
        Database.roundTrip();
        return database.putIfAbsent(database.parameters.get());
      },
      "r8_many"),

  REFUSES_NULL_IN_ITS_OWN_WAY(
      (database, plant) ->
          database.putIfAbsent(
              Optional.ofNullable(plant).orElseThrow(IllegalArgumentException::new)),
      "r9.*BLOCKING"),

  KEEPS_A_LOCK_AFTER_NULL_OR_AN_INTERRUPT(
      (database, plant) -> {
        database.connections.acquireUninterruptibly();
        waitForDisk();
        NewPlant stored = database.putIfAbsent(plant);
        database.connections.release();
        return stored;
      },
      "r7_an_interrupt",
      "r9.*BLOCKING"),
  CLEARS_AN_INTERRUPT(
      (database, plant) -> {
        boolean unused = Thread.interrupted();
        return database.putIfAbsent(plant);
      },
      "r7_an_interrupt"),
  LEAVES_HALF_A_WRITE_AFTER_AN_INTERRUPT(
      (database, plant) -> {
        NewPlant half = new NewPlant(plant.id(), plant.name(), null);
        boolean isFree = database.memory.putIfAbsent(plant.id(), half) == null;
        if (isFree) {
          waitForDisk();
          database.write(plant);
        }
        return isFree ? plant : database.putIfAbsent(plant);
      },
      "r7_an_interrupt"),
  LEAKS_A_CAUSE_AFTER_AN_INTERRUPT(
      (database, plant) -> {
        if (Thread.currentThread().isInterrupted()) {
          var failure = new PlantStoreUnavailableException("interrupted");
          failure.initCause(new ClosedByInterruptException());
          throw failure;
        }
        return database.putIfAbsent(plant);
      },
      "r7_an_interrupt"),
  FAILS_A_NEIGHBOUR_AFTER_AN_INTERRUPT(
      (database, plant) -> {
        int interrupts = database.callers.get();
        if (Thread.currentThread().isInterrupted()) {
          database.callers.incrementAndGet();
        }
        Database.roundTrip();
        if (database.callers.get() != interrupts && !Thread.currentThread().isInterrupted()) {
          throw new IllegalStateException("the file was closed");
        }
        return database.putIfAbsent(plant);
      },
      "r7_an_interrupt"),

  WRAPS_FAILURES_AND_THROWS_A_REJECTION(
      (database, blocking, plant, executor) ->
          CompletableFuture.supplyAsync(() -> blocking.putIfAbsent(plant), executor),
      "r7_a_failure.*ASYNCHRONOUS",
      "r7_a_call"),
  THROWS_BEFORE_THERE_IS_A_STAGE(
      (database, blocking, plant, executor) ->
          CompletableFuture.completedFuture(blocking.putIfAbsent(plant)),
      "r7_a_failure.*ASYNCHRONOUS"),
  LOCKS_EACH_FORM_FOR_ITSELF(
      (database, plant) -> locking(database.memory, database::readThenWrite).putIfAbsent(plant),
      (database, blocking, plant, executor) ->
          locking(database.disk, database::readThenWrite).putIfAbsentAsync(plant, executor),
      "r3.*ASYNCHRONOUS"),
  SHARES_ONE_FUTURE(
      Database::putIfAbsentSlowly,
      (database, blocking, plant, executor) ->
          database.stages.computeIfAbsent(plant, key -> blocking.putIfAbsentAsync(key, executor)),
      "r8_a_call"),
  REMOVES_THE_PLANT_OF_A_CANCELLED_STAGE(
      Database::putIfAbsentSlowly,
      cancellable((database, plant) -> database.memory.remove(plant.id())),
      "r8_a_call"),
  LOSES_A_CONNECTION_BY_A_CANCELLATION(
      (database, plant) -> {
        database.connections.acquireUninterruptibly();
        Database.longRoundTrip();
        database.connections.release();
        return database.putIfAbsent(plant);
      },
      cancellable((database, plant) -> database.connections.acquireUninterruptibly()),
      "r8_a_call"),
  FAILS_NEIGHBOURS_OF_A_CANCELLED_STAGE(
      (database, plant) -> {
        database.unwritten.add(plant);
        Database.longRoundTrip();
        if (!database.unwritten.remove(plant)) {
          throw new IllegalStateException("the batch was cancelled");
        }
        return database.putIfAbsent(plant);
      },
      cancellable(
          (database, plant) -> database.unwritten.removeIf(other -> other.id() != plant.id())),
      "r8_a_call"),

  WAITS_FOR_A_SILENT_SERVER(SOUND.store, "r7_a_silent") {
    @Override
    int answerTimeoutMillis() {
      return 0; // none
    }
  },
  NEVER_CONNECTS_AGAIN(SOUND.store, "r7_a_silent") {
    @Override
    PlantStore through(InetSocketAddress server, Database database) {
      PlantStore connected = super.through(server, database);
      return plant -> {
        if (!database.connections.tryAcquire()) {
          throw new PlantStoreUnavailableException("the connection is broken");
        }
        NewPlant stored = connected.putIfAbsent(plant);
        database.connections.release();
        return stored;
      };
    }
  },
  BLOCKS_WHILE_EIGHT_CALLS_WAIT_FOR_A_SERVER(
      (database, blocking, plant, executor) -> {
        database.pool.acquireUninterruptibly(2);
        return blocking.putIfAbsentAsync(
            plant,
            call ->
                executor.execute(() -> {
                  call.run();
                  database.pool.release(2);
                }));
      },
      "r7_a_silent.*ASYNCHRONOUS"),

  NEEDS_NO_EXECUTOR(
      (database, blocking, plant, executor) -> blocking.putIfAbsentAsync(plant, Runnable::run),
      "r9.*ASYNCHRONOUS");

  /** What happens before a call fails. */
  private interface Mishap {

    void befall(Database database, NewPlant plant, Exception failure);
  }

  /** An asynchronous form of a store. */
  private interface Form {

    CompletionStage<NewPlant> start(
        Database database, PlantStore blocking, NewPlant plant, Executor executor);
  }

  /** Patterns of the beginnings of the names of the tests that fail; all others pass. */
  final Set<String> failedTests;

  private final BiFunction<Database, NewPlant, NewPlant> store;
  private final Mishap mishap;
  private final Form form;

  SampleStore(BiFunction<Database, NewPlant, NewPlant> store, String... failedTests) {
    this(store, (database, plant, failure) -> {}, failedTests);
  }

  SampleStore(
      BiFunction<Database, NewPlant, NewPlant> store, Mishap mishap, String... failedTests) {
    this(
        store,
        mishap,
        (database, blocking, plant, executor) -> blocking.putIfAbsentAsync(plant, executor),
        failedTests);
  }

  SampleStore(Form form, String... failedTests) {
    this(Database::putIfAbsent, form, failedTests);
  }

  SampleStore(BiFunction<Database, NewPlant, NewPlant> store, Form form, String... failedTests) {
    this(store, (database, plant, failure) -> {}, form, failedTests);
  }

  SampleStore(
      BiFunction<Database, NewPlant, NewPlant> store,
      Mishap mishap,
      Form form,
      String... failedTests) {
    this.store = store;
    this.mishap = mishap;
    this.form = form;
    this.failedTests = Set.of(failedTests);
  }

  PlantStore on(Database database) {
    return inBothForms(database, plant -> store.apply(database, plant));
  }

  PlantStore unreachableOn(Database database) {
    return inBothForms(
        database,
        plant -> {
          var failure = new PlantStoreUnavailableException("the database cannot be reached");
          mishap.befall(database, plant, failure);
          throw failure;
        });
  }

  /** Returns an instance that asks a server before each call for a plant that is not durable. */
  PlantStore through(InetSocketAddress server, Database database) {
    return inBothForms(
        database,
        plant -> {
          if (!database.disk.containsKey(plant.id())) {
            ask(server);
          }
          return store.apply(database, plant);
        });
  }

  private void ask(InetSocketAddress server) {
    try (Socket socket = new Socket(server.getAddress(), server.getPort())) {
      socket.setSoTimeout(answerTimeoutMillis());
      if (socket.getInputStream().read() != 1) {
        throw new IOException("the connection was closed");
      }
    } catch (IOException e) {
      throw new PlantStoreUnavailableException(String.valueOf(e.getMessage()));
    }
  }

  int answerTimeoutMillis() {
    return 100;
  }

  /** Waits as for a disk, unless the thread is interrupted. */
  private static void waitForDisk() {
    Database.roundTrip();
    if (Thread.currentThread().isInterrupted()) {
      throw new PlantStoreUnavailableException("interrupted");
    }
  }

  /** Returns a store that takes plants with equal keys for equal. */
  private static BiFunction<Database, NewPlant, NewPlant> comparing(
      Function<NewPlant, Object> key) {
    return (database, plant) -> {
      NewPlant stored = database.putIfAbsent(plant);
      return key.apply(stored).equals(key.apply(plant)) ? plant : stored;
    };
  }

  private static BiFunction<Database, NewPlant, NewPlant> comparingTexts(
      Function<String, Object> key) {
    return comparing(
        plant -> List.of(key.apply(plant.name()), Optional.ofNullable(plant.tag()).map(key)));
  }

  private static BiFunction<Database, NewPlant, NewPlant> readingThenWriting(
      Predicate<NewPlant> plants) {
    return (database, plant) ->
        plants.test(plant) ? database.readThenWrite(plant) : database.putIfAbsent(plant);
  }

  private PlantStore inBothForms(Database database, PlantStore blocking) {
    return new PlantStore() {
      @Override
      public NewPlant putIfAbsent(NewPlant plant) {
        return blocking.putIfAbsent(plant);
      }

      @Override
      public CompletionStage<NewPlant> putIfAbsentAsync(NewPlant plant, Executor executor) {
        return form.start(database, blocking, plant, executor);
      }
    };
  }

  /** Returns a form with a reaction to a stage that was cancelled. */
  private static Form cancellable(BiConsumer<Database, NewPlant> reaction) {
    return (database, blocking, plant, executor) -> {
      CompletableFuture<NewPlant> stage = new CompletableFuture<>();
      CompletionStage<NewPlant> unused =
          blocking
              .putIfAbsentAsync(plant, executor)
              .whenComplete((stored, failure) -> {
                if (stage.isCancelled()) {
                  reaction.accept(database, plant);
                } else if (failure == null) {
                  stage.complete(stored);
                } else {
                  stage.completeExceptionally(failure);
                }
              });
      return stage;
    };
  }

  private static PlantStore locking(Object lock, PlantStore store) {
    return plant -> {
      synchronized (lock) {
        return store.putIfAbsent(plant);
      }
    };
  }

  private static long checksum(String text) {
    CRC32 checksum = new CRC32();
    checksum.update(text.getBytes(UTF_8));
    return checksum.getValue();
  }

  /** Returns a store whose disk has other plants than its memory. */
  private static BiFunction<Database, NewPlant, NewPlant> writing(UnaryOperator<NewPlant> change) {
    return (database, plant) -> {
      NewPlant stored = database.putIfAbsentInMemory(plant);
      database.disk.putIfAbsent(stored.id(), change.apply(stored));
      return stored;
    };
  }

  private static BiFunction<Database, NewPlant, NewPlant> changing(UnaryOperator<NewPlant> change) {
    return (database, plant) -> database.putIfAbsent(change.apply(plant));
  }

  private static BiFunction<Database, NewPlant, NewPlant> changingTexts(
      UnaryOperator<String> change) {
    return changing(plant -> {
      String tag = plant.tag() == null ? null : change.apply(plant.tag());
      return new NewPlant(plant.id(), change.apply(plant.name()), tag);
    });
  }

  private static NewPlant withAnEmptyTagForNone(NewPlant plant) {
    return new NewPlant(plant.id(), plant.name(), Objects.toString(plant.tag(), ""));
  }

  /** A memory, and a disk that survives a crash. */
  static final class Database {

    final ConcurrentMap<Long, NewPlant> memory = new ConcurrentHashMap<>();
    final ConcurrentMap<Long, NewPlant> disk = new ConcurrentHashMap<>();
    final List<NewPlant> unwritten = Collections.synchronizedList(new ArrayList<>());

    final AtomicReference<NewPlant> parameters = new AtomicReference<>();
    final Map<NewPlant, CompletionStage<NewPlant>> stages = new ConcurrentHashMap<>();
    final Semaphore connections = new Semaphore(1);
    final Semaphore pool = new Semaphore(16);
    volatile boolean hasCrashed;
    final AtomicInteger callers = new AtomicInteger();

    NewPlant readThenWrite(NewPlant plant) {
      NewPlant stored = memory.get(plant.id());
      roundTrip();
      if (stored == null) {
        write(plant);
        return plant;
      }
      return stored;
    }

    void write(NewPlant plant) {
      memory.put(plant.id(), plant);
      disk.put(plant.id(), plant);
    }

    NewPlant putIfAbsent(NewPlant plant) {
      NewPlant stored = putIfAbsentInMemory(plant);
      disk.putIfAbsent(stored.id(), stored);
      return new NewPlant(stored.id(), stored.name(), stored.tag());
    }

    /** Returns long after the plant is stored. */
    NewPlant putIfAbsentSlowly(NewPlant plant) {
      NewPlant stored = putIfAbsent(plant);
      longRoundTrip();
      return stored;
    }

    NewPlant putIfAbsentInMemory(NewPlant plant) {
      NewPlant stored = memory.putIfAbsent(plant.id(), plant);
      return stored == null ? plant : stored;
    }

    void crash() {
      hasCrashed = true;
      unwritten.clear();
      memory.clear();
      memory.putAll(disk);
    }

    /**
     * Takes as long as a call over a network, which keeps a race open for longer than a map does.
     */
    static void roundTrip() {
      LockSupport.parkNanos(50_000);
    }

    /** Takes longer than a call and its cancellation, also on a busy machine. */
    static void longRoundTrip() {
      LockSupport.parkNanos(1_000_000);
    }
  }
}
