package org.plantstore.bench;

/** The table that a round begins with. */
enum Table {
  /** No plants. */
  EMPTY,
  /** Many plants with other ids. */
  LARGE,
  /** The plants that {@code create-plants.lua} sends as taken. */
  TAKEN;

  /** Divides the range of the ids of the script evenly. */
  static final int TAKEN_IDS = 1_000_000;
}
