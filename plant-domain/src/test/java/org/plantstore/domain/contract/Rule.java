package org.plantstore.domain.contract;

import org.jspecify.annotations.Nullable;
import org.plantstore.domain.PlantStore;

/** A rule of {@link PlantStore}, in the words it has there. */
enum Rule {
  R1("A free id: the plant is stored, and an equal one is answered."),
  R2("A taken id: nothing changes, and the stored plant is answered."),
  R3(
      "Of any number of concurrent calls for one id, also through several store instances on one"
          + " database, exactly one wins, and every call answers the winner."),
  R4("What was answered survives a crash of the process and of the database server."),
  R5(
      "Text is kept exactly: all Unicode that Plant allows, without trimming or normalisation."
          + " An absent tag and an empty tag differ."),
  R6("Every long is an id."),
  R7(
      "A failure is an exception that says whether trying again can help:"
          + " PlantStoreUnavailableException if it can, any other unchecked exception if it cannot."
          + " Trying again with the same plant is always safe."
          + " Every call ends, also while the database cannot be reached."
          + " No exception of the store's technology leaves the store, not even as a cause or"
          + " suppressed."),
  R8("A store is safe for use by many threads."),
  R9("Null is refused with NullPointerException.");

  private final String words;

  Rule(String words) {
    this.words = words;
  }

  /** Says what a call should have done, and what it did instead. */
  AssertionError broken(String call, String expected, String outcome, @Nullable Throwable cause) {
    return new AssertionError(
        "%s is broken: %s\n  %s\n  must %s,\n  but %s"
            .formatted(this, words, call, expected, outcome),
        cause);
  }
}
