package org.plantstore.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextBuilder;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.ConfigurableBeanContext;
import io.micronaut.context.DefaultApplicationContextBuilder;
import io.micronaut.json.JsonMapper;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.spi.ToolProvider;

/**
 * The command {@code check}: reports whether a start on this machine with these settings would meet
 * its requirements. It collects the requirements of the service, and those of each adapter that has
 * a tool of this name. A tool writes one line for each requirement: the subject, a tab and the
 * text. The text of a met requirement is its finding, on the tool's output; of an unmet requirement
 * the remedy, on its errors.
 */
final class Check {

  static final String NAME = "check";

  /** {@code --json} writes one document; {@code --token} has a tool read standard input. */
  static final List<String> OPTIONS = List.of("--json", "--token");

  private final boolean isJson;
  private final List<Map<String, Object>> findings = new ArrayList<>();
  private boolean isOk = true;

  // The marks are not in every locale's charset.
  private final PrintStream output = new PrintStream(System.out, true, UTF_8);

  private Check(boolean isJson) {
    this.isJson = isJson;
  }

  /** Runs the tools; returns 0 if all requirements are met, and otherwise 1. */
  static int run(List<ToolProvider> tools, String... arguments) throws IOException {
    Check check = new Check(List.of(arguments).contains("--json"));
    keepOutputForFindings();
    check.addService(arguments);
    for (ToolProvider tool : tools) {
      StringWriter met = new StringWriter();
      StringWriter unmet = new StringWriter();
      check.isOk &=
          tool.run(new PrintWriter(met, true), new PrintWriter(unmet, true), arguments) == 0;
      met.toString().lines().forEach(line -> check.add(true, line.split("\t", 2)));
      unmet.toString().lines().forEach(line -> check.add(false, line.split("\t", 2)));
    }
    if (check.isJson) {
      Map<String, Object> document =
          new TreeMap<>(Map.of("ok", check.isOk, "findings", check.findings));
      check.output.println(JsonMapper.createDefault().writeValueAsString(document));
    }
    return check.isOk ? 0 : 1;
  }

  /** Sends other output to standard error. Must run before the first logger exists. */
  private static void keepOutputForFindings() {
    System.setOut(System.err);
    System.setProperty("log.target", "System.err");
    System.setProperty("root.level", "warn");
    // The settings may be wrong.
    System.setProperty("LOG_FORMAT", "text");
    System.setProperty("ACCESS_LOG", "off");
  }

  private void addService(String... arguments) {
    // Without the other configurers, which wait for the database and migrate the tables.
    ApplicationContextBuilder builder =
        new DefaultApplicationContextBuilder() {
          @Override
          public Optional<ApplicationContextConfigurer> getContextConfigurer() {
            return Optional.of(new InstalledStores());
          }
        };
    try (ApplicationContext context = builder.args(arguments).build()) {
      ServiceSettings.requireLegible(System.getenv(), arguments);
      context.getEnvironment().start();
      ((ConfigurableBeanContext) context).configure();
      new ServiceSettings().configure(context);
      new InstalledStores().tryProvided();
      add(true, "service", "the settings can work, and the ports are free");
    } catch (Exception | LinkageError e) { // also of the store's close()
      add(false, "service", Main.reasonFor(e));
    }
    add(true, "java", Runtime.version() + " of " + System.getProperty("java.vendor"));
  }

  private void add(boolean isMet, String... subjectAndText) {
    isOk &= isMet;
    String subject = subjectAndText[0];
    String text = subjectAndText[subjectAndText.length - 1];
    // Sorted, so that the order is the same each time.
    findings.add(new TreeMap<>(Map.of("ok", isMet, "subject", subject, "text", text)));
    if (!isJson) {
      output.println((isMet ? "✔ " : "✘ ") + subject + ": " + text);
    }
  }
}
