package org.plantstore.bench;

/**
 * What a value must reach.
 *
 * @param direction which side of the limit is good
 * @param limit the last good value
 */
record Goal(Direction direction, double limit) {

  private enum Direction {
    AT_LEAST,
    AT_MOST
  }

  static Goal atLeast(double limit) {
    return new Goal(Direction.AT_LEAST, limit);
  }

  static Goal atMost(double limit) {
    return new Goal(Direction.AT_MOST, limit);
  }

  boolean isMetBy(double value) {
    return direction == Direction.AT_LEAST ? value >= limit : value <= limit;
  }

  String format(Unit unit) {
    return (direction == Direction.AT_LEAST ? "≥ " : "≤ ") + unit.format(limit);
  }
}
