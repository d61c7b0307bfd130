package org.plantstore.bench;

import static org.plantstore.bench.Figure.Goal.atLeast;
import static org.plantstore.bench.Figure.Goal.atMost;
import static org.plantstore.bench.Figure.absolute;
import static org.plantstore.bench.Figure.ratio;
import static org.plantstore.bench.Metric.CPU;
import static org.plantstore.bench.Metric.CREATES;
import static org.plantstore.bench.Metric.CREATES_PER_CORE;
import static org.plantstore.bench.Metric.MEDIAN_LATENCY;
import static org.plantstore.bench.Metric.P99_LATENCY;
import static org.plantstore.bench.Metric.PEAK_MEMORY;
import static org.plantstore.bench.Metric.START;

import java.util.List;

/**
 * Figures that are measured together, on the services of this part.
 *
 * @param name the name in {@code bench.parts}
 * @param figures the figures
 */
record Part(String name, List<Figure> figures) {

  private static final Subject PGBENCH = new Inserts();
  private static final Requests SERVICE = requests("service", Variant.PACKAGED, 64);
  private static final Subject SERVICE_256 = requests("service", Variant.PACKAGED, 256);
  private static final Subject ONE_INSERT = requests("one insert", Variant.ONE_INSERT, 64);
  private static final Subject ECHO = requests("echo", Variant.ECHO, 64);
  private static final Subject WITH_LARGE_BODIES = new WithLargeBodies(SERVICE);
  private static final Subject SERVICE_1 = requests("service", Variant.PACKAGED, 1);
  private static final Subject ONE_INSERT_1 = requests("one insert", Variant.ONE_INSERT, 1);
  private static final Subject THIS_BUILD = requests("this build", Variant.WITHOUT_CACHE, 64);
  private static final Subject OTHER_BUILD = requests("other build", Variant.OTHER_BUILD, 64);
  private static final Subject HERE_64 = requests("here", Variant.WITHOUT_CACHE, 64);
  private static final Subject HERE_256 = requests("here", Variant.WITHOUT_CACHE, 256);
  private static final Subject THERE_64 = requests("there", Variant.OTHER_DATABASE, 64);
  private static final Subject THERE_256 = requests("there", Variant.OTHER_DATABASE, 256);
  private static final Subject RS256 = requests(Algorithm.RS256);
  private static final Subject ES256 = requests(Algorithm.ES256);
  private static final Subject SERVICE_1024 = requests("service", Variant.PACKAGED, 1_024);
  private static final Subject LARGE_TABLE = requests("large table", Table.LARGE);
  private static final Subject RETRIES = requests("retries", Table.TAKEN);
  private static final Subject TEXT_LOG = requests("text log", Variant.TEXT_LOG, 64);
  private static final Subject JSON_LOG = requests("JSON log", Variant.JSON_LOG, 64);
  private static final Subject ENCRYPTED = requests("TLS", Variant.TLS, 64);
  private static final Subject CLIENT = new ThroughClient("client", Variant.PACKAGED, 64);
  private static final Subject CACHED_START = new Start("AOT cache", Variant.REQUIRING_CACHE);
  private static final Subject PLAIN_START = new Start("no AOT cache", Variant.WITHOUT_CACHE);

  /** All figures: what, goal, metric, subject and baseline. */
  static final List<Part> ALL =
      List.of(
          part(
              "creates",
              ratio("creates ÷ pgbench's inserts", atLeast(1.8), CREATES, SERVICE, PGBENCH),
              ratio(
                  "creates at 256 connections ÷ pgbench's inserts",
                  atLeast(2.0),
                  CREATES,
                  SERVICE_256,
                  PGBENCH),
              ratio("one insert per request ÷ pgbench", null, CREATES, ONE_INSERT, PGBENCH),
              absolute("creates per second", null, CREATES, SERVICE),
              absolute("durable creates per core and second", null, CREATES_PER_CORE, SERVICE),
              absolute("the same, one insert per request", null, CREATES_PER_CORE, ONE_INSERT),
              absolute("pgbench's inserts per second", null, CREATES, PGBENCH),
              absolute("p99", atMost(10), P99_LATENCY, SERVICE),
              absolute("CPU", atMost(30), CPU, SERVICE),
              absolute("CPU of the echo", null, CPU, ECHO),
              ratio("CPU ÷ echo", atMost(1.7), CPU, SERVICE, ECHO),
              absolute("peak memory", atMost(300), PEAK_MEMORY, SERVICE)),
          part(
              "other",
              ratio("creates ÷ other build", atLeast(1.0), CREATES, THIS_BUILD, OTHER_BUILD),
              ratio(
                  "CPU per 1,000 creates ÷ other build", atMost(0.9), CPU, THIS_BUILD, OTHER_BUILD),
              ratio("p99 ÷ other build", null, P99_LATENCY, THIS_BUILD, OTHER_BUILD),
              ratio("peak memory ÷ other build", null, PEAK_MEMORY, THIS_BUILD, OTHER_BUILD)),
          part(
              "database",
              ratio("creates at 64, other database ÷ this", null, CREATES, THERE_64, HERE_64),
              ratio("creates at 256, other database ÷ this", null, CREATES, THERE_256, HERE_256),
              ratio("CPU at 64, other database ÷ this", null, CPU, THERE_64, HERE_64),
              absolute("p99 at 64, other database", null, P99_LATENCY, THERE_64)),
          part(
              "latency",
              ratio(
                  "median latency at 1 connection ÷ one insert per request",
                  atMost(1.0),
                  MEDIAN_LATENCY,
                  SERVICE_1,
                  ONE_INSERT_1),
              absolute("median latency at 1 connection", null, MEDIAN_LATENCY, SERVICE_1)),
          part(
              "tokens",
              ratio("RS256 tokens ÷ HS256", atLeast(0.95), CREATES, RS256, SERVICE),
              ratio("ES256 tokens ÷ HS256", atLeast(0.95), CREATES, ES256, SERVICE)),
          part(
              "connections",
              ratio("1,024 connections ÷ 64", atLeast(0.9), CREATES, SERVICE_1024, SERVICE)),
          part(
              "large-bodies",
              ratio(
                  "median latency with large bodies ÷ without",
                  atMost(4.0),
                  MEDIAN_LATENCY,
                  WITH_LARGE_BODIES,
                  SERVICE)),
          part(
              "rows",
              ratio("large table ÷ empty table", atLeast(0.8), CREATES, LARGE_TABLE, SERVICE)),
          part("retries", ratio("retries ÷ fresh ids", atLeast(0.8), CREATES, RETRIES, SERVICE)),
          part(
              "access-log",
              ratio("creates with the access log ÷ without", null, CREATES, TEXT_LOG, SERVICE),
              ratio("CPU with the access log ÷ without", atMost(1.15), CPU, TEXT_LOG, SERVICE),
              ratio("CPU with it as JSON ÷ without", atMost(1.2), CPU, JSON_LOG, SERVICE)),
          part(
              "tls",
              ratio("creates with TLS ÷ without", null, CREATES, ENCRYPTED, SERVICE),
              ratio("CPU with TLS ÷ without", null, CPU, ENCRYPTED, SERVICE)),
          part(
              "client",
              ratio("creates by plant-client ÷ wrk", atLeast(0.6), CREATES, CLIENT, SERVICE),
              ratio("CPU of the service, plant-client ÷ wrk", null, CPU, CLIENT, SERVICE)),
          part(
              "start",
              ratio(
                  "start with AOT cache ÷ without", atMost(0.4), START, CACHED_START, PLAIN_START),
              absolute("start with AOT cache", null, START, CACHED_START)));

  Part {
    figures = List.copyOf(figures);
  }

  /** Returns each subject of the figures once. */
  List<Subject> subjects() {
    return figures.stream().flatMap(Figure::subjects).distinct().toList();
  }

  private static Part part(String name, Figure... figures) {
    return new Part(name, List.of(figures));
  }

  private static Requests requests(String name, Variant variant, int connections) {
    return new Requests(
        name + " at " + connections, variant, Algorithm.HS256, connections, Table.EMPTY);
  }

  private static Subject requests(Algorithm algorithm) {
    return new Requests(algorithm.name(), Variant.KEY_SET, algorithm, 64, Table.EMPTY);
  }

  private static Subject requests(String name, Table table) {
    return new Requests(name, Variant.PACKAGED, Algorithm.HS256, 64, table);
  }
}
