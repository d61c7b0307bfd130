package org.plantstore.domain;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.text.Collator;
import java.text.Normalizer;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.InvalidPlantException.Violation;

/** A store that either follows every rule or has one realistic fault. */
final class SampleStore implements PlantStore {

  /** A fault, with the prefix that is common to the names of the tests that detect it. */
  enum Fault {
    NONE(""),
    /** Not a fault, because a database engine may have a limit. */
    REJECTS_LONG_TEXTS(""),
    FORGETS_AFTER_TWO_SECONDS("r1"),
    IGNORES_CASE("r2", text -> text.toLowerCase(Locale.ROOT)),
    COMPARES_NORMALIZED_TEXTS("r2", text -> Normalizer.normalize(text, Normalizer.Form.NFC)),
    COMPARES_DECOMPOSED_TEXTS("r2", text -> Normalizer.normalize(text, Normalizer.Form.NFD)),
    COMPARES_COMPATIBLE_TEXTS("r2", text -> Normalizer.normalize(text, Normalizer.Form.NFKC)),
    COMPARES_THE_FIRST_255_CHARACTERS(
        "r2", text -> text.substring(0, Math.min(255, text.length()))),
    COMPARES_THE_LAST_255_CHARACTERS(
        "r2", text -> text.substring(Math.max(0, text.length() - 255))),
    COMPARES_HASHES("r2", String::hashCode),
    COMPARES_CHECKSUMS("r2", SampleStore::checksum),
    IGNORES_TRAILING_SPACES("r2", String::stripTrailing),
    IGNORES_LEADING_SPACES("r2", String::stripLeading),
    IGNORES_ACCENTS("r2", text -> collationKey(text, Collator.PRIMARY)),
    IGNORES_CONTROL_CHARACTERS("r2", text -> collationKey(text, Collator.TERTIARY)),
    COMPARES_LATIN_1("r2", text -> new String(text.getBytes(ISO_8859_1), ISO_8859_1)),
    COMPARES_LENGTHS("r2", String::length),
    COMPARES_NUMBERS("r2", text -> text.matches("\\d+") ? Long.valueOf(text) : text),
    COMPARES_ONLY_NAMES("r2", (one, other) -> one.name().equals(other.name())),
    COMPARES_ONLY_TAGS("r2", (one, other) -> Objects.equals(one.tag(), other.tag())),
    COMPARES_NAME_AND_TAG_TOGETHER(
        "r2", (one, other) -> (one.name() + one.tag()).equals(other.name() + other.tag())),
    COMPARES_DESCRIPTIONS("r2", (one, other) -> one.toString().equals(other.toString())),
    TREATS_EMPTY_TEXT_AS_A_WILDCARD(
        "r2", (one, other) -> matches(one.name(), other.name()) && matches(one.tag(), other.tag())),
    READS_THEN_WRITES("r3"),
    LOCKS_ONLY_WITHIN_ONE_INSTANCE("r3_concurrent_calls_through_two"),
    SHARES_ONE_FUTURE_FOR_AN_ID("r3_concurrent_calls_all"),
    SHARES_A_REJECTION_FOR_AN_ID("r3_concurrent_calls_all"),
    WRITES_TEN_PLANTS_AT_A_TIME("r4"),
    TRUNCATES("r5"),
    STORES_AN_EMPTY_TAG_INSTEAD_OF_NONE("r5"),
    REJECTS_LONG_TEXTS_WITHOUT_THE_PLANT("r5"),
    KEEPS_IDS_AS_DOUBLES("r6"),
    LEAKS_A_CAUSE("r7_an_unreachable"),
    WAITS_FOREVER_FOR_A_SILENT_SERVER("r7_the_store"),
    NEVER_RECONNECTS("r7_the_store"),
    GIVES_UP_AFTER_100_FAILURES("r7_the_store"),
    KEEPS_A_SILENT_CONNECTION("r7_the_store"),
    REPORTS_EVERY_ERROR_AS_UNAVAILABLE("r7_an_internal"),
    REPORTS_AN_INVALID_ROW_AS_UNAVAILABLE("r7_an_invalid"),
    REJECTS_THE_PLANT_IF_A_ROW_IS_INVALID("r7_an_invalid"),
    REPAIRS_AN_INVALID_ROW("r7_an_invalid"),
    THROWS_THE_EXECUTORS_EXCEPTION("r7_a_rejection"),
    NEVER_COMPLETES_A_REJECTED_CALL("r7_a_rejection"),
    KEEPS_A_LOCK_AFTER_AN_INTERRUPT("r7_an_interrupt"),
    BLOCKS_ITS_CALLER("r7_the_asynchronous"),
    WRAPS_FAILURES("r7_an_unreachable"),
    DOES_NOT_WAIT_FOR_ITS_ONLY_CONNECTION("r8_many"),
    SHARES_ONE_STATEMENT("r8_many"),
    SHARES_ONE_FUTURE("r8_canceling"),
    REJECTS_NULL_WITH_ANOTHER_EXCEPTION("r9"),
    ACCEPTS_A_NULL_EXECUTOR("r9");

    final String tests;

    /** Returns true if a call for a taken id should return the caller's plant. */
    @SuppressWarnings("ImmutableEnumChecker") // the lambdas above are stateless
    private final BiPredicate<NewPlant, NewPlant> equality;

    Fault(String tests) {
      this(tests, (one, other) -> false);
    }

    Fault(String tests, Function<String, Object> key) {
      this(
          tests,
          (one, other) ->
              key.apply(one.name()).equals(key.apply(other.name()))
                  && ((one.tag() == null || other.tag() == null)
                      ? Objects.equals(one.tag(), other.tag())
                      : key.apply(one.tag()).equals(key.apply(other.tag()))));
    }

    Fault(String tests, BiPredicate<NewPlant, NewPlant> equality) {
      this.tests = tests;
      this.equality = equality;
    }
  }

  /** Memory, a disk that survives a crash, and the ids of invalid rows. */
  record Database(Map<Long, NewPlant> memory, Map<Long, NewPlant> disk, Set<Long> invalid) {

    Database() {
      this(new ConcurrentHashMap<>(), new ConcurrentHashMap<>(), ConcurrentHashMap.newKeySet());
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
  private final Map<Long, CompletableFuture<NewPlant>> started = new ConcurrentHashMap<>();
  private final AtomicInteger failures = new AtomicInteger();
  private @Nullable Socket connected;
  private volatile NewPlant parameters = new NewPlant(0, "", null);
  private volatile CompletionStage<NewPlant> running = CompletableFuture.completedStage(parameters);

  /** Creates an instance that contacts the server, if any, before it stores a plant. */
  SampleStore(Fault fault, Database database, @Nullable InetSocketAddress server) {
    this.fault = fault;
    this.database = database;
    this.server = server;
  }

  @Override
  @SuppressWarnings("NullAway") // a faulty store handles null differently
  public NewPlant putIfAbsent(NewPlant plant) {
    switch (fault) {
      case REJECTS_LONG_TEXTS, SHARES_A_REJECTION_FOR_AN_ID -> requireShort(plant, plant);
      case REJECTS_LONG_TEXTS_WITHOUT_THE_PLANT -> requireShort(plant, new NewPlant(0, "", null));
      case FORGETS_AFTER_TWO_SECONDS -> {
        if (System.nanoTime() - lastCall > 2_000_000_000) {
          database.memory.clear();
        }
        lastCall = System.nanoTime();
      }
      case READS_THEN_WRITES -> {
        return readThenWrite(plant);
      }
      case LOCKS_ONLY_WITHIN_ONE_INSTANCE -> {
        synchronized (this) {
          return readThenWrite(plant);
        }
      }
      case WRITES_TEN_PLANTS_AT_A_TIME -> {
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
      case STORES_AN_EMPTY_TAG_INSTEAD_OF_NONE -> {
        return insert(new NewPlant(plant.id(), plant.name(), Objects.toString(plant.tag(), "")));
      }
      case KEEPS_IDS_AS_DOUBLES -> {
        return insert(new NewPlant((long) (double) plant.id(), plant.name(), plant.tag()));
      }
      case NEVER_RECONNECTS -> {
        if (failures.get() > 0) {
          throw new PlantStoreUnavailableException("the connection is closed");
        }
      }
      case GIVES_UP_AFTER_100_FAILURES -> {
        if (failures.get() > 100) {
          throw new PlantStoreUnavailableException("the server is down");
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
      case DOES_NOT_WAIT_FOR_ITS_ONLY_CONNECTION -> {
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
      case REJECTS_NULL_WITH_ANOTHER_EXCEPTION -> {
        if (plant == null) {
          throw new IllegalArgumentException("no plant");
        }
      }
      default -> {}
    }
    NewPlant stored = insert(plant);
    return fault.equality.test(stored, plant) ? plant : stored;
  }

  @Override
  public CompletionStage<NewPlant> putIfAbsentAsync(NewPlant plant, Executor executor) {
    requireNonNull(plant);
    if (fault != Fault.ACCEPTS_A_NULL_EXECUTOR) {
      requireNonNull(executor);
    }
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
      case SHARES_ONE_FUTURE_FOR_AN_ID -> {
        boolean[] isFirst = {false};
        CompletableFuture<NewPlant> shared =
            started.computeIfAbsent(
                plant.id(),
                id -> {
                  isFirst[0] = true;
                  return CompletableFuture.supplyAsync(call, executor);
                });
        // Only the first caller's plant is stored, but every caller receives its own plant.
        return isFirst[0] ? shared : shared.thenApply(stored -> plant);
      }
      case SHARES_A_REJECTION_FOR_AN_ID -> {
        return started.computeIfAbsent(
            plant.id(),
            id -> PlantStore.super.putIfAbsentAsync(plant, executor).toCompletableFuture());
      }
      case THROWS_THE_EXECUTORS_EXCEPTION -> {
        CompletableFuture<NewPlant> result = new CompletableFuture<>();
        executor.execute(() -> result.complete(call.get()));
        return result;
      }
      case NEVER_COMPLETES_A_REJECTED_CALL -> {
        CompletableFuture<NewPlant> result = new CompletableFuture<>();
        try {
          executor.execute(() -> result.complete(call.get()));
        } catch (RejectedExecutionException e) {
          LockSupport.parkNanos(1);
        }
        return result;
      }
      case ACCEPTS_A_NULL_EXECUTOR -> {
        return PlantStore.super.putIfAbsentAsync(
            plant, executor == null ? Runnable::run : executor);
      }
      default -> {
        return PlantStore.super.putIfAbsentAsync(plant, executor);
      }
    }
  }

  private static void requireShort(NewPlant plant, NewPlant rejected) {
    if ((plant.name() + plant.tag()).length() > 255) {
      throw new InvalidPlantException(rejected, List.of(new Violation("tag", "must be shorter")));
    }
  }

  private NewPlant insert(NewPlant plant) {
    contactServer();
    try {
      if (database.invalid.contains(plant.id())) {
        return new NewPlant(plant.id(), "a\0b", null); // the constructor throws
      }
      NewPlant stored = database.memory.computeIfAbsent(plant.id(), id -> plant);
      database.disk.putIfAbsent(stored.id(), stored);
      return new NewPlant(stored.id(), stored.name(), stored.tag());
    } catch (InvalidPlantException e) {
      switch (fault) {
        case REPORTS_AN_INVALID_ROW_AS_UNAVAILABLE ->
            throw new PlantStoreUnavailableException("an invalid row");
        case REJECTS_THE_PLANT_IF_A_ROW_IS_INVALID ->
            throw new InvalidPlantException(plant, e.violations());
        case REPAIRS_AN_INVALID_ROW -> {
          return new NewPlant(plant.id(), "ab", null);
        }
        default -> throw e;
      }
    } catch (UnsupportedOperationException e) { // the database is damaged
      throw fault == Fault.REPORTS_EVERY_ERROR_AS_UNAVAILABLE
          ? new PlantStoreUnavailableException("no table")
          : e;
    }
  }

  private NewPlant readThenWrite(NewPlant plant) {
    NewPlant stored = database.memory.get(plant.id());
    roundTrip();
    if (stored == null) {
      database.memory.put(plant.id(), plant);
    }
    return stored == null ? plant : stored;
  }

  /** Takes as long as a network call, which makes races last longer than with a map alone. */
  private static void roundTrip() {
    LockSupport.parkNanos(50_000);
  }

  private void contactServer() {
    if (server == null) {
      return;
    }
    try {
      if (fault == Fault.KEEPS_A_SILENT_CONNECTION) {
        contactAgain(server);
        return;
      }
      try (Socket socket = new Socket(server.getAddress(), server.getPort())) {
        send(socket, fault == Fault.WAITS_FOREVER_FOR_A_SILENT_SERVER ? 0 : 100);
      }
    } catch (IOException e) {
      failures.incrementAndGet();
      PlantStoreUnavailableException failure = new PlantStoreUnavailableException("no answer");
      if (fault == Fault.LEAKS_A_CAUSE) {
        failure.initCause(e);
      }
      throw failure;
    }
  }

  /** Reconnects if the server has closed the connection, but not if the server is silent. */
  private synchronized void contactAgain(InetSocketAddress address) throws IOException {
    try {
      connected =
          connected == null ? new Socket(address.getAddress(), address.getPort()) : connected;
      send(connected, 20);
    } catch (IOException e) {
      connected = e instanceof SocketTimeoutException ? connected : null;
      throw e;
    }
  }

  private static void send(Socket server, int timeoutMillis) throws IOException {
    server.setSoTimeout(timeoutMillis);
    server.getOutputStream().write(1);
    if (server.getInputStream().read() != 1) {
      throw new IOException("no answer");
    }
  }

  private static Object checksum(String text) {
    CRC32 checksum = new CRC32();
    checksum.update(text.getBytes(UTF_8));
    return checksum.getValue();
  }

  private static Object collationKey(String text, int strength) {
    Collator collator = Collator.getInstance(Locale.ROOT);
    collator.setStrength(strength);
    return ByteBuffer.wrap(collator.getCollationKey(text).toByteArray());
  }

  private static boolean matches(@Nullable String one, @Nullable String other) {
    return Objects.equals(one, other) || "".equals(one) || "".equals(other);
  }
}
