package org.plantstore.bench;

import java.io.IOException;
import java.sql.SQLException;

/** Something that creates plants and is measured once in each round. */
interface Subject {

  /** Returns the name by which the output refers to this subject. */
  String name();

  /**
   * Creates plants in an empty table for the given number of seconds.
   *
   * @throws IllegalStateException if the measurement is invalid
   */
  Measurement measure(int seconds) throws IOException, InterruptedException, SQLException;
}
