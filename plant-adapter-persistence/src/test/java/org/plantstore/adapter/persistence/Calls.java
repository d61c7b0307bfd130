package org.plantstore.adapter.persistence;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.fail;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.function.ThrowingConsumer;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.slf4j.LoggerFactory;

/** Concurrent calls to a store, most of them with plants that differ only in their ids. */
public final class Calls {

  private Calls() {}

  public static NewPlant fern(long id) {
    return new NewPlant(id, "fern", null);
  }

  /** Calls a store once for each id. The store must not use a thread of the caller. */
  public static List<CompletableFuture<Void>> putAll(PlantStore store, LongStream ids) {
    return ids.mapToObj(
            id -> returnsFern(id, store.putIfAbsentAsync(fern(id), work -> fail("uses a thread"))))
        .toList();
  }

  /** Returns a stage that fails if the call fails or returns a different plant. */
  public static CompletableFuture<Void> returnsFern(long id, CompletionStage<NewPlant> call) {
    return call.thenAccept(stored -> assertEquals(fern(id), stored)).toCompletableFuture();
  }

  public static void assertAllStored(List<CompletableFuture<Void>> calls) throws Exception {
    for (CompletableFuture<Void> call : calls) {
      call.get();
    }
  }

  public static Throwable failure(CompletableFuture<?> call) {
    return requireNonNull(assertThrows(ExecutionException.class, call::get).getCause());
  }

  /** Asserts that the call failed but can be retried, and returns the message of the failure. */
  public static String unavailable(CompletableFuture<?> call) {
    return String.valueOf(
        assertInstanceOf(PlantStoreUnavailableException.class, failure(call)).getMessage());
  }

  public static void await(Callable<Boolean> condition) throws Exception {
    while (!condition.call()) {
      assertFalse(Thread.interrupted(), "interrupted while waiting");
      LockSupport.parkNanos(100_000);
    }
  }

  /** Returns the lines that an action logs at level INFO or above. */
  public static List<String> log(String name, Executable action) {
    return log(name, lines -> action.execute());
  }

  /** Works like {@link #log(String, Executable)}, but the action can watch the lines. */
  public static List<String> log(String name, ThrowingConsumer<List<ILoggingEvent>> action) {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.list = new CopyOnWriteArrayList<>();
    log.start();
    Logger logger = (Logger) LoggerFactory.getLogger(name);
    logger.setLevel(Level.INFO);
    logger.addAppender(log);
    try {
      assertDoesNotThrow(() -> action.accept(log.list));
    } finally {
      logger.detachAppender(log);
      logger.setLevel(null);
    }
    return log.list.stream()
        .map(line -> line.getLevel() + " " + line.getFormattedMessage())
        .toList();
  }
}
