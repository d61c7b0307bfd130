package org.plantstore.adapter.persistence.batch;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.batch.BatchFailure.Remedy;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * An attempt to store a plant whose caller is waiting. All attempts for one call complete the same
 * future. Safe for use by many threads.
 */
final class WaitingPlant {

  /** An upper bound for a character, in UTF-8 and in memory. */
  private static final long BYTES_PER_CHARACTER = 3;

  private final NewPlant plant;
  private final Shard shard;
  private final CompletableFuture<NewPlant> stored;
  private final long since = System.nanoTime();
  private final long deadline;
  private final @Nullable BatchFailure earlierFailure;

  /** Creates the first attempt for a caller that waits until this {@link System#nanoTime()}. */
  WaitingPlant(NewPlant plant, Shard shard, CompletableFuture<NewPlant> stored, long deadline) {
    this(plant, shard, stored, deadline, null);
  }

  private WaitingPlant(
      NewPlant plant,
      Shard shard,
      CompletableFuture<NewPlant> stored,
      long deadline,
      @Nullable BatchFailure earlierFailure) {
    this.plant = plant;
    this.shard = shard;
    this.stored = stored;
    this.deadline = deadline;
    this.earlierFailure = earlierFailure;
  }

  NewPlant plant() {
    return plant;
  }

  Shard shard() {
    return shard;
  }

  /** Returns when this attempt began, as a value of {@link System#nanoTime()}. */
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

  boolean isExpired() {
    return deadline - System.nanoTime() <= 0;
  }

  /** Returns whether the plant is to be written on its own, because its last batch failed. */
  boolean isSeparate() {
    return earlierFailure != null && earlierFailure.remedy() != Remedy.REPEAT;
  }

  /** Completes the call with the plant that has the id. */
  void complete(NewPlant storedPlant) {
    stored.complete(storedPlant);
  }

  /** Fails the call; does nothing if it has completed. */
  void fail(RuntimeException reason) {
    stored.completeExceptionally(
        shard.isDistributed() && reason instanceof PlantStoreUnavailableException
            ? new PlantStoreUnavailableException(
                reason.getMessage() + "; the plant belongs to " + shard.node())
            : reason);
  }

  /** Fails the call because its deadline has passed. */
  void expire() {
    fail(expired(earlierFailure));
  }

  /**
   * Returns the next attempt, unless the call has completed, or fails here because another attempt
   * cannot help or comes too late. A plant that failed on its own is not retried, unless the
   * failure is transient, such as a lock on its id.
   */
  Optional<WaitingPlant> retryAfter(BatchFailure failure) {
    boolean canHelp =
        switch (failure.remedy()) {
          case REPEAT, RECOVERY -> true;
          case SEPARATE ->
              !isSeparate() || failure.reason() instanceof PlantStoreUnavailableException;
          case NONE -> false;
        };
    if (!canHelp || isExpired()) {
      fail(canHelp ? expired(failure) : failure.reason());
    }
    return isDone()
        ? Optional.empty()
        : Optional.of(new WaitingPlant(plant, shard, stored, deadline, failure));
  }

  /**
   * Returns why a call fails at its deadline: the last failure if it is transient. A permanent
   * failure may have been caused by another plant of the batch, so it is not reported.
   */
  static RuntimeException expired(@Nullable BatchFailure lastFailure) {
    return lastFailure != null && lastFailure.reason() instanceof PlantStoreUnavailableException
        ? lastFailure.reason()
        : new PlantStoreUnavailableException("the database has not answered in time");
  }
}
