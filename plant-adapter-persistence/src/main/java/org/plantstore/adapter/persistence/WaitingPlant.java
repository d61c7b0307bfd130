package org.plantstore.adapter.persistence;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStoreUnavailableException;

/** A plant whose caller waits until it is stored. Safe for use by many threads. */
final class WaitingPlant {

  /** An upper bound for a character, in UTF-8 and in memory. */
  private static final long BYTES_PER_CHARACTER = 3;

  private final NewPlant plant;
  private final long deadline;
  private final CompletableFuture<NewPlant> stored = new CompletableFuture<>();

  /**
   * Lets a plant wait.
   *
   * @param plant the plant
   * @param deadline until when, as a value of {@link System#nanoTime()}
   */
  WaitingPlant(NewPlant plant, long deadline) {
    this.plant = plant;
    this.deadline = deadline;
  }

  NewPlant plant() {
    return plant;
  }

  long bytes() {
    String tag = plant.tag();
    return BYTES_PER_CHARACTER * (plant.name().length() + (tag == null ? 0L : tag.length()));
  }

  /** Says whether nobody waits any more. */
  boolean isOver() {
    return stored.isDone() || deadline - System.nanoTime() <= 0;
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
   * Waits for the answer.
   *
   * @return the plant that is stored under the id
   * @throws BatchFailure if writing the plant failed
   * @throws TimeoutException if the deadline passes
   * @throws InterruptedException if the caller is interrupted
   */
  NewPlant await() throws BatchFailure, TimeoutException, InterruptedException {
    try {
      return stored.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw (BatchFailure) e.getCause();
    } finally {
      stored.cancel(false);
    }
  }
}
