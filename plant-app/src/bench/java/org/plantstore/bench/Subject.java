package org.plantstore.bench;

import java.io.IOException;
import java.sql.SQLException;

/** Something that creates plants and is measured once in each round. */
interface Subject {

  /** Returns the name of this subject in the output. */
  String name();

  /**
   * Creates plants in an empty table for the given number of seconds.
   *
   * @throws IllegalStateException if the result would contain a wrong figure
   */
  Measurement measure(int seconds) throws IOException, InterruptedException, SQLException;
}
