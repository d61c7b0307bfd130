package org.plantstore.bench;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Starts the services, and defines the rows of the result table and the bars of the plot.
 *
 * @param rows the rows of the result table
 * @param plotted the subjects that the {@link Plot} shows for each number of connections, or an
 *     empty map if no plot is drawn
 */
record Figures(List<Figure> rows, SortedMap<Integer, List<Subject>> plotted) {

  /** Returns the figures about the speed of the service and the cost of its options. */
  static Figures ofService(Testbed testbed) throws IOException, InterruptedException, SQLException {
    Service service = testbed.start("service", Map.of(), Testbed.JAR);
    String oneInsertClasses = Testbed.JAR + File.pathSeparator + Program.CLASSES;
    Service oneInsert = testbed.start("one_insert", Map.of(), oneInsertClasses);
    Map<String, String> textLog = Map.of("ACCESS_LOG", "on");
    Map<String, String> jsonLog = Map.of("ACCESS_LOG", "on", "LOG_FORMAT", "json");
    List<Figure> figures = new ArrayList<>();
    SortedMap<Integer, List<Subject>> plotted = new TreeMap<>();
    for (int connections : List.of(1, 64, 256)) {
      Subject creates = new Requests(service, connections);
      Subject single = new Requests(oneInsert, connections);
      // On two cores, pgbench is fastest with about 16 clients.
      Subject inserts = new Inserts(service.database(), Math.min(connections, 16));
      figures.addAll(speed(creates, inserts, single, " at " + connections));
      plotted.put(connections, List.of(creates, inserts, single));
    }
    for (Service withOption :
        List.of(
            testbed.start("access_log", textLog, Testbed.JAR),
            testbed.start("json_access_log", jsonLog, Testbed.JAR),
            testbed.start("tls", testbed.certificate(), Testbed.JAR))) {
      figures.addAll(ratios(withOption, service, 64));
    }
    return new Figures(figures, plotted);
  }

  /** Returns the figures that compare this build with another build. */
  static Figures ofBuilds(Testbed testbed, Path otherJar) throws IOException, SQLException {
    Service thisBuild = testbed.start("this_build", Map.of(), Testbed.JAR);
    Service otherBuild =
        testbed.start("other_build", Map.of(), otherJar.toAbsolutePath().toString());
    List<Figure> figures = new ArrayList<>();
    for (int connections : List.of(1, 64, 256)) {
      figures.addAll(ratios(thisBuild, otherBuild, connections));
    }
    return new Figures(figures, new TreeMap<>());
  }

  private static List<Figure> speed(Subject creates, Subject inserts, Subject single, String at) {
    return List.of(
        new Figure("creates" + at + " / pgbench", Measurement::perSecond, creates, inserts),
        new Figure("creates" + at + " / one insert", Measurement::perSecond, creates, single),
        new Figure("creates per core and second" + at, Measurement::perCore, creates, null),
        new Figure("CPU of a create in microseconds" + at, Measurement::cpuMicros, creates, null),
        new Figure("one insert per core and second" + at, Measurement::perCore, single, null));
  }

  private static List<Figure> ratios(Service service, Service baseline, int connections) {
    Subject creates = new Requests(service, connections);
    Subject others = new Requests(baseline, connections);
    String of = " of " + creates.name() + " / " + others.name();
    return List.of(
        new Figure("creates" + of, Measurement::perSecond, creates, others),
        new Figure("CPU of a create" + of, Measurement::cpuMicros, creates, others),
        new Figure("p99" + of, Measurement::p99Millis, creates, others));
  }
}
