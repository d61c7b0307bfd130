package org.plantstore.bench;

import java.io.IOException;
import java.sql.SQLException;
import java.util.Map;

/** A measured subject, once in each round. */
interface Subject {

  /** Returns the name of this subject in the log of the run. */
  String name();

  /**
   * Measures for the given time.
   *
   * @throws BenchmarkException if a figure would be wrong
   */
  Map<Metric, Double> measure(Testbed testbed, int seconds)
      throws IOException, InterruptedException, SQLException;

  /** Runs for the given time without measuring, so that the JVM compiles the code. */
  default void warmUp(Testbed testbed, int seconds)
      throws IOException, InterruptedException, SQLException {
    testbed.log("  warming up " + name() + ", " + seconds + " s");
    measure(testbed, seconds);
  }
}
