package org.plantstore.bench;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Starts the services, and defines the rows of the result table. */
final class Figures {

  private Figures() {}

  /** Returns the figures about the speed of the service and the cost of its options. */
  static List<Figure> ofService(Testbed testbed)
      throws IOException, InterruptedException, SQLException {
    Service service = testbed.start("service", Map.of(), Testbed.JAR);
    String oneInsertClasses = Testbed.JAR + File.pathSeparator + Program.CLASSES;
    Service oneInsert = testbed.start("one_insert", Map.of(), oneInsertClasses);
    Map<String, String> textLog = Map.of("ACCESS_LOG", "on");
    Map<String, String> jsonLog = Map.of("ACCESS_LOG", "on", "LOG_FORMAT", "json");
    List<Figure> figures = new ArrayList<>();
    for (int connections : List.of(1, 64, 256)) {
      figures.addAll(speed(service, oneInsert, connections));
    }
    for (Service withOption :
        List.of(
            testbed.start("access_log", textLog, Testbed.JAR),
            testbed.start("json_access_log", jsonLog, Testbed.JAR),
            testbed.start("tls", testbed.certificate(), Testbed.JAR))) {
      figures.addAll(ratios(withOption, service, 64));
    }
    return figures;
  }

  /** Returns the ratios of this build to another build. */
  static List<Figure> ofBuilds(Testbed testbed, Path otherJar) throws IOException, SQLException {
    Service thisBuild = testbed.start("this_build", Map.of(), Testbed.JAR);
    Service otherBuild =
        testbed.start("other_build", Map.of(), otherJar.toAbsolutePath().toString());
    return Stream.of(1, 64, 256)
        .flatMap(connections -> ratios(thisBuild, otherBuild, connections).stream())
        .toList();
  }

  private static List<Figure> speed(Service service, Service oneInsert, int connections) {
    Subject creates = new Requests(service, connections);
    Subject single = new Requests(oneInsert, connections);
    // The number of clients is limited, because pgbench is slower with more than 64.
    Subject inserts = new Inserts(service.database(), Math.min(connections, 64));
    String at = " at " + connections;
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
