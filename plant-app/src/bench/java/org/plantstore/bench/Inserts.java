package org.plantstore.bench;

import java.io.IOException;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Creates without a service, by pgbench: one prepared insert of one row in a transaction, at the
 * best of three numbers of clients.
 */
record Inserts() implements Subject {

  private static final int[] CLIENTS = {16, 32, 64};
  private static final Pattern RATE = Pattern.compile("(?m)^tps = ([0-9.]+)");
  private static final Pattern FAILED =
      Pattern.compile("(?m)^number of failed transactions: [1-9].*");

  @Override
  public String name() {
    return "pgbench";
  }

  @Override
  public Map<Metric, Double> measure(Testbed testbed, int seconds)
      throws IOException, InterruptedException, SQLException {
    Database database = testbed.database(Variant.PACKAGED);
    double best = 0;
    for (int clients : CLIENTS) {
      database.prepare(Table.EMPTY);
      best = Math.max(best, insertsPerSecond(database, clients, seconds));
    }
    return Map.of(Metric.CREATES, best);
  }

  @Override
  public void warmUp(Testbed testbed, int seconds)
      throws IOException, InterruptedException, SQLException {
    // Starts the service, which creates the table; pgbench itself needs no warm-up.
    testbed.service(Variant.PACKAGED);
  }

  private static double insertsPerSecond(Database database, int clients, int seconds)
      throws IOException, InterruptedException {
    String output =
        Program.find("pgbench")
            .run(
                Map.of("PGPASSWORD", database.password()),
                String.format(
                    Locale.ROOT,
                    "-n -M prepared -j 1 -c %d -T %d -U %s -f",
                    clients,
                    seconds,
                    database.username()),
                Program.resource("create-plants.sql").toString(),
                String.format(
                    Locale.ROOT, "postgresql://%s/%s", database.address(), database.name()));
    Matcher rate = RATE.matcher(output);
    if (!rate.find() || FAILED.matcher(output).find()) {
      throw new BenchmarkException("not every insert of pgbench succeeded: " + output.strip());
    }
    return Double.parseDouble(rate.group(1));
  }
}
