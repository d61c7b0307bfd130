package org.plantstore.adapter.persistence.batch;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.batch.BatchFailure.Remedy;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStoreUnavailableException;

/** A plant whose caller waits until it is stored. Safe for use by many threads. */
final class WaitingPlant {

  /** An upper bound for a character, in UTF-8 and in memory. */
  private static final long BYTES_PER_CHARACTER = 3;

  private final NewPlant plant;
  private final Shard shard;
  private final long since = System.nanoTime();
  private final long deadline;
  private final @Nullable BatchFailure earlierFailure;
  private final CompletableFuture<NewPlant> stored = new CompletableFuture<>();

  /** Creates an entry for a plant whose caller waits until this {@link System#nanoTime()}. */
  WaitingPlant(NewPlant plant, Shard shard, long deadline, @Nullable BatchFailure earlierFailure) {
    this.plant = plant;
    this.shard = shard;
    this.deadline = deadline;
    this.earlierFailure = earlierFailure;
  }

  NewPlant plant() {
    return plant;
  }

  Shard shard() {
    return shard;
  }

  /** Returns when this entry was created, as a value of {@link System#nanoTime()}. */
  long since() {
    return since;
  }

  long bytes() {
    String tag = plant.tag();
    return BYTES_PER_CHARACTER * (plant.name().length() + (tag == null ? 0L : tag.length()));
  }

  /** Returns whether the caller no longer waits. */
  boolean isDone() {
    return stored.isDone();
  }

  /** Returns whether the plant is to be written on its own, because its last batch failed. */
  boolean isSeparate() {
    return earlierFailure != null && earlierFailure.remedy() != Remedy.REPEAT;
  }

  /**
   * Returns the next attempt to store the plant. A plant that failed on its own is not retried,
   * unless the failure is transient, such as a lock on its id.
   *
   * @param failure why this attempt failed
   * @throws RuntimeException the failure's reason, if another attempt cannot help or comes too late
   */
  WaitingPlant retryAfter(BatchFailure failure) {
    boolean canHelp =
        switch (failure.remedy()) {
          case REPEAT, RECOVERY -> true;
          case SEPARATE ->
              !isSeparate() || failure.reason() instanceof PlantStoreUnavailableException;
          case NONE -> false;
        };
    if (!canHelp) {
      throw failure.reason();
    }
    if (isExpired()) {
      throw expired(failure).reason();
    }
    return new WaitingPlant(plant, shard, deadline, failure);
  }

  /** Fails the plant if its deadline has passed. */
  void expire() {
    if (isExpired()) {
      fail(expired(earlierFailure));
    }
  }

  private boolean isExpired() {
    return deadline - System.nanoTime() <= 0;
  }

  /** Returns the last failure, if it may be this plant's own: a refusal may be a neighbour's. */
  static BatchFailure expired(@Nullable BatchFailure lastFailure) {
    return lastFailure != null && lastFailure.reason() instanceof PlantStoreUnavailableException
        ? lastFailure
        : unavailable(Remedy.NONE, "the database has not answered in time");
  }

  /** Completes with the stored plant; null if the row of the id exists, but cannot be read. */
  void complete(@Nullable NewPlant storedPlant) {
    if (storedPlant != null) {
      stored.complete(storedPlant);
    } else {
      // The row was deleted in between, or is hidden from this account.
      fail(unavailable(Remedy.REPEAT, "the plant that has the id cannot be read"));
    }
  }

  void fail(BatchFailure failure) {
    stored.completeExceptionally(failure);
  }

  /**
   * Waits until this is completed. The deadline is not watched here: a timed wait costs a virtual
   * thread about as much as everything else about its plant.
   *
   * @return the plant that is stored under the id
   * @throws BatchFailure if writing the plant failed, or the deadline has passed
   * @throws InterruptedException if the caller is interrupted
   */
  NewPlant await() throws BatchFailure, InterruptedException {
    try {
      return stored.get();
    } catch (ExecutionException e) {
      throw (BatchFailure) e.getCause();
    } finally {
      stored.cancel(false);
    }
  }

  static BatchFailure unavailable(Remedy remedy, String message) {
    return new BatchFailure(remedy, new PlantStoreUnavailableException(message));
  }
}
