package org.plantstore.bench;

import java.util.Locale;

/** What a value is counted in, and how many of its decimals mean something. */
enum Unit {
  RATIO("", 2),
  PER_SECOND("/s", 0),
  MILLISECONDS(" ms", 2),
  MEGABYTES(" MB", 0);

  private final String symbol;
  private final int decimals;

  Unit(String symbol, int decimals) {
    this.symbol = symbol;
    this.decimals = decimals;
  }

  String format(double value) {
    return String.format(Locale.ROOT, "%,." + decimals + "f%s", value, symbol);
  }
}
