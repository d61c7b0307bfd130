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
 *
 * @param stored completes with the plant that has the id
 * @param since when this attempt began, as a value of {@link System#nanoTime()}
 * @param deadline when the caller stops waiting, likewise
 * @param earlierFailure why the attempt before failed, or null if this is the first
 */
record WaitingPlant(
    NewPlant plant,
    Shard shard,
    CompletableFuture<NewPlant> stored,
    long since,
    long deadline,
    @Nullable BatchFailure earlierFailure) {

  /** An upper bound for a character, in UTF-8 and in memory. */
  private static final long BYTES_PER_CHARACTER = 3;

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
   * Returns the next attempt, or empty if the call has ended. Fails the call if a retry cannot
   * help, or if the deadline has passed. A plant that failed on its own is not retried, unless the
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
        : Optional.of(new WaitingPlant(plant, shard, stored, System.nanoTime(), deadline, failure));
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
