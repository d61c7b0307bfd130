package org.plantstore.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Creates plants without a service: one prepared insert of one row per transaction.
 *
 * @param program where pgbench is
 * @param database where it creates the plants
 */
record Pgbench(Path program, Database database) {

  private static final Pattern TRANSACTIONS_PER_SECOND = Pattern.compile("(?m)^tps = ([0-9.]+)");
  private static final Pattern FAILED =
      Pattern.compile("(?m)^number of failed transactions: [1-9].*");

  /**
   * Answers how many inserts per second so many clients make.
   *
   * @throws BenchmarkException if any of them fails
   */
  double run(int clients, Duration time) throws IOException, InterruptedException {
    String output =
        Command.run(
            Map.of("PGPASSWORD", "any"),
            List.of(
                program.toString(),
                "-n",
                "-M",
                "prepared",
                "-j",
                "1",
                "-c",
                String.valueOf(clients),
                "-T",
                String.valueOf(time.toSeconds()),
                "-f",
                Resource.path("create-plants.sql").toString(),
                "-h",
                "localhost",
                "-p",
                String.valueOf(database.port()),
                "-U",
                Database.USERNAME,
                database.name()));
    Matcher rate = TRANSACTIONS_PER_SECOND.matcher(output);
    if (!rate.find() || FAILED.matcher(output).find()) {
      throw new BenchmarkException("not every insert of pgbench succeeded: " + output.strip());
    }
    return Double.parseDouble(rate.group(1));
  }
}
