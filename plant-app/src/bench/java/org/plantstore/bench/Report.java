package org.plantstore.bench;

import com.fasterxml.jackson.core.JsonEncoding;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The result.
 *
 * @param rows what was measured, and what was not
 */
record Report(List<Row> rows) {

  Report {
    rows = List.copyOf(rows);
  }

  /** Answers a table for people. */
  String table() {
    return rows.stream()
        .map(Report::line)
        .collect(
            Collectors.joining(
                "\n",
                """
                | what | goal | median | min – max | verdict |
                | --- | --- | --- | --- | --- |
                """,
                ""));
  }

  private static String line(Row row) {
    Goal goal = row.goal();
    Samples samples = row.samples();
    return String.join(
        " | ",
        "| " + row.what(),
        goal == null ? "" : goal.format(row.unit()),
        samples == null ? "" : row.unit().format(samples.median()),
        samples == null
            ? ""
            : row.unit().format(samples.min()) + " – " + row.unit().format(samples.max()),
        row.verdict() + " |");
  }

  /** Writes everything for programs. */
  void write(Path file, Map<String, Object> context, List<Map<String, Object>> measurements)
      throws IOException {
    Map<String, Object> all = new LinkedHashMap<>(context);
    all.put("rows", rows.stream().map(Report::figures).toList());
    all.put("measurements", measurements);
    try (JsonGenerator json =
        new JsonFactory()
            .createGenerator(file.toFile(), JsonEncoding.UTF8)
            .setPrettyPrinter(new DefaultPrettyPrinter())) {
      write(json, all);
    }
  }

  private static Map<String, Object> figures(Row row) {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("what", row.what());
    Goal goal = row.goal();
    if (goal != null) {
      figures.put("goal", goal.format(row.unit()));
    }
    Samples samples = row.samples();
    if (samples != null) {
      figures.put("median", samples.median());
      figures.put("min", samples.min());
      figures.put("max", samples.max());
      figures.put("values", samples.values());
    }
    figures.put("verdict", row.verdict());
    return figures;
  }

  private static void write(JsonGenerator json, @Nullable Object value) throws IOException {
    if (value instanceof Map<?, ?> members) {
      json.writeStartObject();
      for (Map.Entry<?, ?> member : members.entrySet()) {
        json.writeFieldName(String.valueOf(member.getKey()));
        write(json, member.getValue());
      }
      json.writeEndObject();
    } else if (value instanceof List<?> elements) {
      json.writeStartArray();
      for (Object element : elements) {
        write(json, element);
      }
      json.writeEndArray();
    } else {
      json.writeObject(value);
    }
  }
}
