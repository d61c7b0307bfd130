package org.plantstore.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.micronaut.json.JsonMapper;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.spi.ToolProvider;

/**
 * The command {@code check}: whether this configuration works here, before it is rolled out. The
 * service and its adapters each bring a tool of this name, which writes what is as it should be to
 * its output, and what is not to its errors, as "subject: finding". This class collects them.
 */
final class Check {

  static final String NAME = "check";

  /** {@code --json} writes one document; {@code --token} has a tool read standard input. */
  static final List<String> OPTIONS = List.of("--json", "--token");

  private final List<ToolProvider> tools;
  private final List<Finding> findings = new ArrayList<>();

  Check(List<ToolProvider> tools) {
    this.tools = tools;
  }

  private record Finding(boolean ok, String subject, String text) {

    static Finding of(boolean ok, String line) {
      String[] parts = line.split(": ", 2);
      return new Finding(ok, parts[0], parts[parts.length - 1]);
    }

    Map<String, Object> members() {
      // Sorted, so that the order is the same each time.
      return new TreeMap<>(Map.of("ok", ok, "subject", subject, "text", text));
    }

    @Override
    public String toString() {
      return (ok ? "✔ " : "✘ ") + subject + ": " + text;
    }
  }

  /** Runs the tools; returns 0 if all is as it should be, and otherwise 1. */
  int run(String... arguments) {
    logToErrors();
    // Not as the locale, which need not have the marks.
    PrintStream output = new PrintStream(new FileOutputStream(FileDescriptor.out), true, UTF_8);
    boolean isJson = List.of(arguments).contains("--json");
    for (ToolProvider tool : tools) {
      StringWriter good = new StringWriter();
      StringWriter bad = new StringWriter();
      tool.run(new PrintWriter(good, true), new PrintWriter(bad, true), arguments);
      int before = findings.size();
      good.toString().lines().map(line -> Finding.of(true, line)).forEach(findings::add);
      bad.toString().lines().map(line -> Finding.of(false, line)).forEach(findings::add);
      if (!isJson) {
        findings.stream().skip(before).forEach(output::println);
      }
    }
    boolean isOk = findings.stream().allMatch(Finding::ok);
    if (isJson) {
      output.println(json(isOk));
    }
    return isOk ? 0 : 1;
  }

  /** Leaves standard output to the findings; must run before the first logger is made. */
  private static void logToErrors() {
    System.setProperty("log.target", "System.err");
    System.setProperty("root.level", "warn");
    // Whatever the settings are, which are checked.
    System.setProperty("LOG_FORMAT", "text");
    System.setProperty("ACCESS_LOG", "off");
  }

  private String json(boolean isOk) {
    try {
      return JsonMapper.createDefault()
          .writeValueAsString(
              new TreeMap<>(
                  Map.of(
                      "ok", isOk, "findings", findings.stream().map(Finding::members).toList())));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
