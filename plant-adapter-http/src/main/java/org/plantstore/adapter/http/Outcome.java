package org.plantstore.adapter.http;

import java.util.Locale;

/** How an exchange ended, in a word. */
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

  /** Answers the word. */
  String label() {
    return label;
  }
}
