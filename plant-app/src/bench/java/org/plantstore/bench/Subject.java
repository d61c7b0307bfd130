package org.plantstore.bench;

import java.io.IOException;
import java.sql.SQLException;

/** Something that creates plants, measured once in each round. */
interface Subject {

  /** Returns the name in the output. */
  String name();

  /**
   * Creates plants for the given time, in an empty table.
   *
   * @throws IllegalStateException if a figure would be wrong
   */
  Measurement measure(int seconds) throws IOException, InterruptedException, SQLException;
}
