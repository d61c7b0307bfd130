package org.plantstore.bench;

import java.io.IOException;
import java.sql.SQLException;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Inserts plants with pgbench instead of a service. Each transaction inserts one row with a
 * prepared statement.
 *
 * @param database a database that contains the table of the service
 * @param clients the number of concurrent pgbench clients
 */
record Inserts(Database database, int clients) implements Subject {

  private static final Pattern RATE = Pattern.compile("(?m)^tps = ([0-9.]+)");

  @Override
  public String name() {
    return "pgbench at " + clients;
  }

  @Override
  public Measurement measure(int seconds) throws IOException, InterruptedException, SQLException {
    database.empty();
    String options = "--no-vacuum --protocol prepared --client " + clients + " --time " + seconds;
    String output =
        Program.run(
            Map.of("PGUSER", Database.USERNAME),
            "pgbench " + options + " --file",
            Program.CLASSES.resolve("create-plants.sql"),
            database.url());
    String rate = RATE.matcher(output).results().findFirst().orElseThrow().group(1);
    return new Measurement(Double.parseDouble(rate), Double.NaN, Double.NaN);
  }
}
