package org.plantstore.bench;

import java.io.IOException;
import java.sql.SQLException;
import java.util.List;

/** Something that is measured by itself, with services of its own. */
@FunctionalInterface
interface Part {

  /** The number of connections that most figures are about. */
  int CONNECTIONS = 64;

  /** More than most figures are about, to warm up what only many connections use. */
  int MANY_CONNECTIONS = 256;

  /**
   * Measures, and answers the rows of the result.
   *
   * @throws BenchmarkException if a figure would be wrong
   */
  List<Row> measure(Laboratory laboratory) throws IOException, InterruptedException, SQLException;
}
