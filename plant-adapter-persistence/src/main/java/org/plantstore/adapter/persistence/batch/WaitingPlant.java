package org.plantstore.adapter.persistence.batch;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStoreUnavailableException;

/** A plant whose caller waits until it is stored. Safe for use by many threads. */
final class WaitingPlant {

  /** An upper bound for a character, in UTF-8 and in memory. */
  private static final long BYTES_PER_CHARACTER = 3;

  private final NewPlant plant;
  private final long since;
  private final long deadline;
  private final @Nullable BatchFailure earlierFailure;
  private final CompletableFuture<NewPlant> stored = new CompletableFuture<>();

  /**
   * Lets a plant wait.
   *
   * @param plant the plant
   * @param since since when, as a value of {@link System#nanoTime()}
   * @param deadline until when, as a value of {@link System#nanoTime()}
   * @param earlierFailure why an earlier try failed, or null if there was none
   */
  WaitingPlant(NewPlant plant, long since, long deadline, @Nullable BatchFailure earlierFailure) {
    this.plant = plant;
    this.since = since;
    this.deadline = deadline;
    this.earlierFailure = earlierFailure;
  }

  NewPlant plant() {
    return plant;
  }

  /** Answers since when the plant waits, as a value of {@link System#nanoTime()}. */
  long since() {
    return since;
  }

  long bytes() {
    String tag = plant.tag();
    return BYTES_PER_CHARACTER * (plant.name().length() + (tag == null ? 0L : tag.length()));
  }

  /** Says whether nobody waits any more. */
  boolean isOver() {
    return stored.isDone();
  }

  /** Says whether the plant has made a batch fail, or may have, and is to be tried by itself. */
  boolean isSeparate() {
    return earlierFailure != null && earlierFailure.remedy() == BatchFailure.Remedy.SEPARATE;
  }

  /** Lets the caller give up if the deadline has passed. */
  void giveUpAtDeadline() {
    if (deadline - System.nanoTime() <= 0) {
      fail(givenUpAfter(earlierFailure));
    }
  }

  /**
   * Answers what a caller is told whose plant is not tried again. Why another plant of its batch
   * was refused does not concern it.
   *
   * @param failure why the last try failed that may be repeated, or null if there was none
   */
  static BatchFailure givenUpAfter(@Nullable BatchFailure failure) {
    return failure != null && failure.reason() instanceof PlantStoreUnavailableException
        ? failure
        : new BatchFailure(
            BatchFailure.Remedy.NONE,
            new PlantStoreUnavailableException("the database has not answered in time"));
  }

  /** Answers the caller; null if the row of the id is there, but cannot be read. */
  void answer(@Nullable NewPlant storedPlant) {
    if (storedPlant != null) {
      stored.complete(storedPlant);
    } else {
      // An operator has deleted it in between, or hides it from this account.
      fail(
          new BatchFailure(
              BatchFailure.Remedy.REPEAT,
              new PlantStoreUnavailableException("the plant that has the id cannot be read")));
    }
  }

  void fail(BatchFailure failure) {
    stored.completeExceptionally(failure);
  }

  /**
   * Waits for the answer. Somebody else must see to the deadline: to wait for a limited time costs
   * a virtual thread about as much as all else about its plant.
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
}
