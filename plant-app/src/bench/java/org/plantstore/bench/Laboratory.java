package org.plantstore.bench;

import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * All that a part needs to measure.
 *
 * @param options what the user chose
 * @param database what the service keeps its plants in
 * @param installation the packaged service
 * @param wrk makes requests
 * @param pgbench makes inserts
 * @param keys what tokens are signed with
 * @param journal what has been measured
 */
record Laboratory(
    Options options,
    Database database,
    Installation installation,
    Wrk wrk,
    Pgbench pgbench,
    Keys keys,
    Journal journal) {

  /** Starts the service as most users would: with a secret for its tokens. */
  Target startService(String name) throws IOException, InterruptedException {
    return new Target(name, installation.start(secret(), keys.hs256()), keys.hs256());
  }

  /** Returns what measures another installation, which keeps its plants in another database. */
  Laboratory of(Installation other) {
    return new Laboratory(
        options,
        other.database(),
        other,
        wrk,
        new Pgbench(pgbench.program(), other.database()),
        keys,
        journal);
  }

  /** Starts the service without the profiles of a training run, and otherwise alike. */
  Target startServiceWithoutCache(String name) throws IOException, InterruptedException {
    Map<String, String> settings = new HashMap<>(secret());
    settings.put("PLANT_STORE_AOT", "off");
    return new Target(name, installation.start(settings, keys.hs256()), keys.hs256());
  }

  /** Starts the service so that it writes a line for each request, and otherwise alike. */
  Target startServiceWithAccessLog(String name) throws IOException, InterruptedException {
    Map<String, String> settings = new HashMap<>(secret());
    settings.put("ACCESS_LOG", "on");
    return new Target(name, installation.start(settings, keys.hs256()), keys.hs256());
  }

  /** Starts the service with the store that makes one insert per request, but otherwise alike. */
  Target startOneInsertPerRequest(Service model) throws IOException, InterruptedException {
    return new Target(
        "one insert per request",
        installation.startOneInsertPerRequest(model, secret(), keys.hs256()),
        keys.hs256());
  }

  private Map<String, String> secret() {
    return Map.of("JWT_SECRET", keys.secret());
  }

  /** Lets the JVM compile what it will need; these numbers of connections share the time. */
  void warmUp(Target target, int... connections) throws IOException, InterruptedException {
    warmUp(target, Wrk.Ids.FRESH, connections);
  }

  /** Lets the JVM compile what it will need for retries of what {@link TakenIds} stored. */
  void warmUpByRepeating(Target target, int... connections)
      throws IOException, InterruptedException {
    warmUp(target, Wrk.Ids.TAKEN, connections);
  }

  private void warmUp(Target target, Wrk.Ids ids, int... connections)
      throws IOException, InterruptedException {
    Duration share = options.warmUpTime().dividedBy(connections.length);
    Duration time = share.toSeconds() > 0 ? share : Duration.ofSeconds(1);
    for (int count : connections) {
      journal.tell("  warming up " + describe(target, count) + ", " + time.toSeconds() + " s");
      wrk.run(target.service(), target.token(), ids, count, time);
    }
  }

  /** Empties the table, so that every round begins alike. */
  void empty() throws SQLException {
    database.awaitQuiet();
    database.execute("TRUNCATE plant", "CHECKPOINT");
  }

  /** Measures one round of creates with free ids on an empty table. */
  Load createOnEmptyTable(String part, int round, Target target, int connections)
      throws IOException, InterruptedException, SQLException {
    empty();
    return create(part, round, target, connections);
  }

  /**
   * Measures one round of creates with free ids on the table as it is.
   *
   * @throws BenchmarkException if the table has fewer plants afterwards than were acknowledged
   */
  Load create(String part, int round, Target target, int connections)
      throws IOException, InterruptedException, SQLException {
    long before = database.plants();
    Load load =
        wrk.run(target.service(), target.token(), Wrk.Ids.FRESH, connections, options.roundTime());
    database.awaitQuiet();
    long stored = database.plants() - before;
    // What is under way when the time is over is stored, but nobody waits for its answer.
    if (stored < load.creates() || stored > load.creates() + connections) {
      throw new BenchmarkException(
          load.creates() + " creates were acknowledged, but " + stored + " plants were stored");
    }
    journal.add(part, round, describe(target, connections), load.figures());
    return load;
  }

  /**
   * Measures one round of creates that all repeat what {@link TakenIds} stored.
   *
   * @throws BenchmarkException if any of them stored a plant
   */
  Load repeat(String part, int round, Target target, int connections)
      throws IOException, InterruptedException, SQLException {
    Load load =
        wrk.run(target.service(), target.token(), Wrk.Ids.TAKEN, connections, options.roundTime());
    database.awaitQuiet();
    long plants = database.plants();
    if (plants != TakenIds.COUNT) {
      throw new BenchmarkException(
          "retries must store nothing, but of " + TakenIds.COUNT + " plants they made " + plants);
    }
    journal.add(part, round, describe(target, connections), load.figures());
    return load;
  }

  /** Measures one round of inserts without a service, and answers how many there were a second. */
  double insert(String part, int round, int clients)
      throws IOException, InterruptedException, SQLException {
    empty();
    double perSecond = pgbench.run(clients, options.roundTime());
    journal.add(
        part,
        round,
        "pgbench with " + clients + " clients",
        Map.of("inserts_per_second", perSecond));
    return perSecond;
  }

  private static String describe(Target target, int connections) {
    return target.name()
        + " at "
        + connections
        + (connections == 1 ? " connection" : " connections");
  }
}
