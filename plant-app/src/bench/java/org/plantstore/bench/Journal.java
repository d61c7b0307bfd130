package org.plantstore.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Tells what happens while it does, and remembers every figure. */
final class Journal {

  private final PrintStream output =
      new PrintStream(new FileOutputStream(FileDescriptor.out), true, UTF_8);
  private final List<Map<String, Object>> entries = new ArrayList<>();

  /** Tells what comes next. */
  void tell(String text) {
    output.println(text);
  }

  /** Remembers and tells what one measurement came to. */
  void add(String part, int round, String what, Map<String, Object> figures) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("part", part);
    entry.put("round", round);
    entry.put("what", what);
    entry.putAll(figures);
    entries.add(entry);
    tell(
        "  round "
            + round
            + ", "
            + what
            + ": "
            + figures.entrySet().stream().map(Journal::format).collect(Collectors.joining(", ")));
  }

  List<Map<String, Object>> entries() {
    return List.copyOf(entries);
  }

  private static String format(Map.Entry<String, Object> figure) {
    return figure.getKey()
        + " "
        + (figure.getValue() instanceof Double number
            ? String.format(Locale.ROOT, "%.2f", number)
            : figure.getValue());
  }
}
