package org.plantstore.bench;

import java.io.IOException;
import java.sql.SQLException;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Creates plants over HTTP with wrk. One thread uses several keep-alive connections. Each
 * connection sends one request after another.
 *
 * @param service the service that receives the requests
 * @param connections the number of concurrent connections
 */
record Requests(Service service, int connections) implements Subject {

  private static final Pattern RESULT =
      Pattern.compile("answers (\\d+), failures (\\d+), micros (\\d+), p99 (\\d+)");

  @Override
  public String name() {
    return service.name() + " at " + connections;
  }

  @Override
  public Measurement measure(int seconds) throws IOException, InterruptedException, SQLException {
    service.database().empty();
    double cpuBefore = service.cpuMicros();
    // The timeout exceeds the service's deadline, so a response that takes longer than the timeout
    // is a failure.
    String options =
        "--threads 1 --connections " + connections + " --duration " + seconds + " --timeout 30s";
    String output =
        Program.run(
            Map.of("TOKEN", service.token()),
            "wrk " + options + " --script",
            Program.CLASSES.resolve("create-plants.lua"),
            service.address());
    double cpuMicros = service.cpuMicros() - cpuBefore;
    Matcher result = RESULT.matcher(output);
    if (!result.find() || !result.group(2).equals("0")) {
      throw new IllegalStateException("not every create of " + name() + " succeeded: " + output);
    }
    double creates = Long.parseLong(result.group(1));
    long plants = service.database().plants();
    if (plants < creates) {
      throw new IllegalStateException(
          name() + " acknowledged " + creates + " plants, but stored " + plants);
    }
    return new Measurement(
        creates * 1e6 / Long.parseLong(result.group(3)),
        cpuMicros / creates,
        Long.parseLong(result.group(4)) / 1e3);
  }
}
