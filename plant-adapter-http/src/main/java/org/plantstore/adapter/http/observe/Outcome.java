package org.plantstore.adapter.http.observe;

import java.util.Locale;

/** How an exchange ended, as metrics tell it. */
enum Outcome {
  /** A plant is stored. */
  CREATED,
  /** Something else was answered as it was asked for: a document. */
  SERVED,
  /** The answer was an error that whoever sent the request can mend. */
  REFUSED,
  /** The answer was an error of the service. */
  FAILED,
  /** The connection ended before the answer did. */
  UNANSWERED;

  private final String label = name().toLowerCase(Locale.ROOT);

  /** Answers the value of the label {@code outcome}. */
  String label() {
    return label;
  }
}
