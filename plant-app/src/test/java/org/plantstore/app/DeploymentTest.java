package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.KubernetesResource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Checks that the files for Kubernetes, Compose, and systemd match the service. Models of the
 * Kubernetes API check the manifests, {@code promtool} checks the alerts, and {@code
 * systemd-analyze} checks the unit.
 */
class DeploymentTest {

  private static final String BASE = "kubernetes/";
  private static final String MONITORING = BASE + "monitoring/";

  private static final JsonNode PODS =
      ProjectFiles.read(BASE + "deployment.yaml").at("/spec/template");
  private static final JsonNode CONTAINER = PODS.at("/spec/containers/0");
  private static final JsonNode MIGRATION =
      ProjectFiles.read(BASE + "migration.yaml").at("/spec/template");
  private static final JsonNode MONITOR = ProjectFiles.read(MONITORING + "pod-monitor.yaml");
  private static final JsonNode RULES = ProjectFiles.read(MONITORING + "alerts.yaml");
  private static final JsonNode COMPOSE = ProjectFiles.read("compose.yaml").path("services");
  private static final JsonNode SETTINGS = ProjectFiles.read("../main/resources/application.yml");

  private static final String UNIT_NAME = "plant-store.service";
  private static final String UNIT = ProjectFiles.text(ProjectFiles.FOLDER.resolve(UNIT_NAME));

  /** The models accept unknown fields, but this mapper refuses them. */
  private static final ObjectMapper MODELS =
      new ObjectMapper()
          .setAnnotationIntrospector(
              new JacksonAnnotationIntrospector() {
                @Override
                public Boolean hasAnySetter(Annotated annotated) {
                  return false;
                }
              });

  @ParameterizedTest
  @ValueSource(strings = {BASE, MONITORING})
  void kustomization_lists_every_manifest_and_manifests_have_only_known_fields(String folder) {
    Set<String> manifests =
        new TreeSet<>(List.of(ProjectFiles.FOLDER.resolve(folder).toFile().list()));
    manifests.removeIf(name -> !name.endsWith(".yaml") || name.equals("kustomization.yaml"));
    Set<String> resources = new TreeSet<>();
    JsonNode kustomization = ProjectFiles.read(folder + "kustomization.yaml");
    kustomization.path("resources").forEach(name -> resources.add(name.textValue()));

    assertEquals(manifests, resources);
    for (String name : manifests) {
      ObjectNode manifest = ProjectFiles.read(folder + name);
      assertFalse(parse(manifest) instanceof GenericKubernetesResource, "kind of " + name);
      manifest.put("specification", "any");
      assertThrows(IllegalArgumentException.class, () -> parse(manifest), name);
    }
  }

  private static Object parse(ObjectNode manifest) {
    return MODELS.convertValue(manifest, KubernetesResource.class);
  }

  @Test
  void variables_exist_and_none_contains_a_secret_in_plain_text() {
    Set<String> names = new HashSet<>();
    for (JsonNode pods : List.of(PODS, MIGRATION)) {
      names.addAll(pods.at("/spec/containers/0/env").findValuesAsText("name"));
    }
    for (String variable : unit("Environment").split(" ", -1)) {
      names.add(variable.replaceFirst("=.*", ""));
    }
    assertTrue(names.stream().noneMatch(name -> name.matches(".*(PASSWORD|SECRET)")));
    // Compose reads its secrets from variables that a command in deployment.md creates.
    for (String container : List.of("migrate", "plant-store")) {
      COMPOSE.path(container).path("environment").fieldNames().forEachRemaining(names::add);
    }
    names.removeAll(ProjectFiles.documentedDefaults().keySet());
    assertEquals(Set.of(), names);
  }

  @Test
  void timeouts_match_those_of_the_service() {
    String start =
        ProjectFiles.documentedDefaults().getOrDefault("DATABASE_START_TIMEOUT_SECONDS", "");
    int drain = SETTINGS.required("drain.seconds").intValue();
    // By default, the framework waits for only 15 s.
    assertEquals("2m", SETTINGS.at("/micronaut/lifecycle/graceful-shutdown/grace-period").asText());
    int end = drain + 120 + 10;
    String page = ProjectFiles.page("operations.md");
    assertTrue(page.contains("Wait at least `DRAIN_SECONDS` plus 130 s before you use `kill -9`"));

    assertTrue(seconds("startupProbe") > Integer.parseInt(start));
    assertTrue(seconds("readinessProbe") < drain);
    assertTrue(PODS.at("/spec/terminationGracePeriodSeconds").intValue() >= end);
    assertTrue(Integer.parseInt(unit("TimeoutStopSec")) >= end);
    String grace = COMPOSE.at("/plant-store/stop_grace_period").textValue();
    assertTrue(Integer.parseInt(grace.replace("s", "")) >= end);
  }

  /** Returns for how many seconds a probe may fail before Kubernetes reacts. */
  private static int seconds(String probe) {
    JsonNode settings = CONTAINER.path(probe);
    return settings.path("periodSeconds").intValue() * settings.path("failureThreshold").intValue();
  }

  @Test
  void ports_match_those_of_the_service_and_probes_and_scrapes_are_answered() {
    assertEquals(
        List.of(SETTINGS.required("port").asText(), SETTINGS.required("management.port").asText()),
        CONTAINER.path("ports").findValuesAsText("containerPort"));
    List<String> names = List.of("api", "management");
    assertEquals(names, CONTAINER.path("ports").findValuesAsText("name"));
    JsonNode policy = ProjectFiles.read(BASE + "network-policy.yaml");
    assertEquals(names, policy.at("/spec/ingress").findValuesAsText("port"));
    JsonNode service = ProjectFiles.read(BASE + "service.yaml");
    assertEquals(List.of("api"), service.findValuesAsText("targetPort"));
    List<JsonNode> targets = new ArrayList<>(CONTAINER.findValues("httpGet"));
    targets.add(MONITOR.at("/spec/podMetricsEndpoints/0"));
    assertEquals(4, targets.size());
    for (JsonNode target : targets) {
      assertEquals("management", target.path("port").textValue());
      String path = target.path("path").textValue();
      Await.until(() -> {
        int status = ServiceProcess.send(ServiceProcess.shared().atManagement(path)).statusCode();
        assertEquals(200, status, path);
      });
    }
  }

  @Test
  void alerts_fire_only_during_faults_and_name_a_runbook_entry(@TempDir Path folder)
      throws IOException {
    String promtool = Program.requireInstalled("promtool");
    Files.writeString(folder.resolve("alerts.json"), RULES.path("spec").toString());
    String test = ProjectFiles.text(Path.of("src", "test", "resources", "alerts-test.yaml"));
    Files.writeString(folder.resolve("test.yaml"), test);
    Program.run(folder, Map.of(), promtool, "test", "rules", "test.yaml").requireSuccess();

    String page = ProjectFiles.page("deployment.md").replace("`", "");
    String runbook = ProjectFiles.runbook().replace("`", "");
    for (JsonNode alert : RULES.findParents("alert")) {
      String name = alert.path("alert").textValue();
      assertTrue(test.contains("alertname=\"" + name + "\""), name);
      String severity = alert.at("/labels/severity").textValue();
      String entry = alert.at("/annotations/runbook").textValue();
      assertTrue(
          page.lines()
              .anyMatch(line ->
                  line.startsWith("| " + name + " | " + severity + " | ")
                      && line.contains(" | [" + entry + "](operations.md#")),
          name);
      assertTrue(runbook.contains("\n### " + entry + "\n"), entry);
    }
  }

  @Test
  void metrics_follow_the_conventions_of_prometheus(@TempDir Path folder) throws IOException {
    String promtool = Program.requireInstalled("promtool");
    Path metrics = Files.writeString(folder.resolve("metrics"), ServiceProcess.shared().metrics());
    assertEquals(
        new Program.Result(0, ""),
        Program.run(
            folder, Map.of(), "sh", "-c", "exec " + promtool + " check metrics <" + metrics));
  }

  @Test
  void unit_passes_the_checks_of_systemd_with_an_exposure_of_at_most_2(@TempDir Path folder)
      throws IOException {
    assertEquals(ServiceProcess.TERMINATED, Integer.parseInt(unit("SuccessExitStatus")));
    String analyze = Program.requireInstalled("systemd-analyze");
    // Replaces the machine's path, because the other units on it would also be reported.
    Map<String, String> environment = Map.of("SYSTEMD_UNIT_PATH", folder.toString());
    Files.writeString(folder.resolve("sysinit.target"), "[Unit]\n"); // an empty file is masked
    Path scripts = Path.of("src", "main", "scripts").toAbsolutePath();
    Files.writeString(
        folder.resolve(UNIT_NAME), UNIT.replace("=/opt/plant-store/", "=" + scripts + "/"));

    assertEquals(
        new Program.Result(0, ""),
        Program.run(folder, environment, analyze, "verify", "--man=no", "./" + UNIT_NAME));
    String options = "security --offline=true --threshold=20 --no-pager ./" + UNIT_NAME;
    Program.run(folder, environment, (analyze + " " + options).split(" ")).requireSuccess();
  }

  private static String unit(String setting) {
    return ProjectFiles.first("(?m)^" + setting + "=(.*)$", UNIT);
  }
}
