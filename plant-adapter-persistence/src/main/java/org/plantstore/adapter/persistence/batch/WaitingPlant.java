package org.plantstore.adapter.persistence.batch;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;

/**
 * An attempt to store a plant whose caller is waiting. All attempts of a call complete the same
 * future.
 *
 * @param group a number; only plants with the same number share a batch
 * @param called when the call began, as a value of {@link System#nanoTime()}
 * @param mayBegin when this attempt may begin, as a value of {@link System#nanoTime()}
 * @param failure the failure of the previous attempt, or null if this is the first
 */
record WaitingPlant(
    NewPlant plant,
    int group,
    CompletableFuture<NewPlant> stored,
    long called,
    long mayBegin,
    @Nullable BatchFailure failure) {

  /** Returns an upper bound for the text in bytes, in UTF-8 and in memory. */
  long bytes() {
    String tag = plant.tag();
    return 3L * (plant.name().length() + (tag == null ? 0 : tag.length()));
  }

  /** Returns whether the plant gets a batch of its own, because it may have failed the last one. */
  boolean isSeparate() {
    return failure != null && failure.retry() != BatchFailure.Retry.BATCH;
  }

  /**
   * Returns whether a retry can help. After a retry in a batch of its own, a plant is retried only
   * if the failure is transient, such as a lock on its id.
   */
  boolean isRetriableAfter(BatchFailure cause) {
    return cause.retry() != BatchFailure.Retry.NEVER && (cause.isTransient() || !isSeparate());
  }

  WaitingPlant after(BatchFailure cause) {
    long next = System.nanoTime() + cause.pause().toNanos();
    return new WaitingPlant(plant, group, stored, called, next, cause);
  }
}
