package org.plantstore.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Formatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.function.ToDoubleFunction;
import org.plantstore.bench.Figure.Spread;

/**
 * An SVG image of two bar charts: plants created per second, and CPU time per create request. Each
 * bar shows a median, and the line across its end ranges from the smallest to the largest value.
 *
 * @param subjects the service, pgbench, and the service with one insert per request, for each
 *     number of connections
 * @param rounds the results of these subjects in each round; at least one round
 */
record Plot(SortedMap<Integer, List<Subject>> subjects, List<Map<Subject, Measurement>> rounds) {

  private static final int GROUP_WIDTH = 230;
  private static final int BAR_WIDTH = 60;
  private static final int HEIGHT = 200;

  /** Returns the image: {@code plot.svg} with the charts and a note below them. */
  String svg(String note) throws IOException {
    return Files.readString(Program.CLASSES.resolve("plot.svg"))
        .formatted(chart(Measurement::perSecond), chart(Measurement::cpuMicros), note);
  }

  private String chart(ToDoubleFunction<Measurement> metric) {
    double largest =
        subjects.values().stream()
            .flatMap(List::stream)
            .mapToDouble(subject -> spread(metric, subject).max())
            .filter(Double::isFinite)
            .max()
            .orElseThrow();
    double power = Math.pow(10, Math.floor(Math.log10(largest)));
    double step = power * (largest > 5 * power ? 2 : largest > 2 * power ? 1 : 0.5);
    double end = Math.ceil(largest / step) * step;
    Formatter svg = new Formatter(Locale.ROOT);
    for (double tick = 0; tick <= end; tick += step) {
      double y = HEIGHT * (1 - tick / end);
      svg.format("<path d='M0 %.1fh690' class='grid'/>", y);
      svg.format("<text x='-8' y='%.1f' class='tick'>%,.0f</text>%n", y + 5, tick);
    }
    int center = GROUP_WIDTH / 2;
    for (Map.Entry<Integer, List<Subject>> group : subjects.entrySet()) {
      svg.format("<text x='%d' y='221'>%d</text>%n", center, group.getKey());
      for (int i = 0; i < group.getValue().size(); i++) {
        Spread spread = spread(metric, group.getValue().get(i));
        int x = center + (i - 1) * BAR_WIDTH;
        if (Double.isFinite(spread.median())) {
          double max = HEIGHT - spread.max() * HEIGHT / end;
          double min = HEIGHT - spread.min() * HEIGHT / end;
          double median = HEIGHT - spread.median() * HEIGHT / end;
          svg.format("<path d='M%d %dV%.1f' class='bar%d'/>", x, HEIGHT, median, i);
          svg.format("<path d='M%d %.1fV%.1f' class='range'/>", x, min, max);
          svg.format("<text x='%d' y='%.1f'>%,.0f</text>%n", x, max - 6, spread.median());
        }
      }
      center += GROUP_WIDTH;
    }
    return svg.toString();
  }

  private Spread spread(ToDoubleFunction<Measurement> metric, Subject subject) {
    return new Figure("", metric, subject, null).spread(rounds);
  }
}
