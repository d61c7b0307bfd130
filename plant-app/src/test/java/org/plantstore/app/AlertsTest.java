package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.openshift.api.model.monitoring.v1.PrometheusRule;
import io.fabric8.openshift.api.model.monitoring.v1.Rule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The alerts match the metrics that are served and the runbook. */
class AlertsTest {

  private static final PrometheusRule ALERTS =
      Manifests.read("kubernetes/monitoring/alerts.yaml", PrometheusRule.class);

  private static final List<Rule> RULES =
      ALERTS.getSpec().getGroups().stream().flatMap(group -> group.getRules().stream()).toList();

  /** A row of the page on deployment: an alert, its severity, and a row of the runbook. */
  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| (PlantStore[A-Za-z]+) \\| (.*?) \\| .* \\| (.*?) \\|$");

  @Test
  void alerts_ask_for_what_is_served() {
    PrometheusQueries.assertServed(RULES.stream().map(rule -> rule.getExpr().getStrVal()).toList());
  }

  @Test
  void each_alert_names_a_row_of_the_runbook_and_is_documented() {
    String page = Manifests.text(Path.of("docs", "deployment.md")).replace("`", "");
    List<String> documented =
        ROW.matcher(page)
            .results()
            .map(row -> row.group(1) + " " + row.group(2) + " " + row.group(3))
            .toList();
    List<String> named = new ArrayList<>();
    for (Rule rule : RULES) {
      String entry = rule.getAnnotations().get("runbook");
      named.add(rule.getAlert() + " " + rule.getLabels().get("severity") + " " + entry);
      String row = "\n| " + entry + " | ";
      assertTrue(Manifests.runbook().replace("`", "").contains(row), () -> "no row begins" + row);
    }
    assertEquals(named, documented);
  }

  @Test
  void alerts_fire_in_trouble_and_not_before(@TempDir Path folder) throws IOException {
    String promtool = Program.requireInstalled("promtool");
    new ObjectMapper().writeValue(folder.resolve("alerts.json").toFile(), ALERTS.getSpec());
    String test = Manifests.text(Path.of("src", "test", "resources", "alerts-test.yaml"));
    Files.writeString(folder.resolve("test.yaml"), test);

    Program.run(folder, Map.of(), promtool, "test", "rules", "test.yaml").requireSuccess();
    for (Rule rule : RULES) {
      assertTrue(test.contains("alertname=\"" + rule.getAlert() + "\""), rule.getAlert());
    }
  }
}
